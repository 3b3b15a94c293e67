import { type ConnectionLike, isGrpcServiceError } from "@temporalio/client";
import type { WorkerDeploymentVersion } from "@temporalio/common";
import { tsToMs } from "@temporalio/common/lib/time.js";
import { connect } from "node:net";

import type { Environment, TemporalConnection } from "../config/index.ts";
import { FiscalflowError } from "../contract/errors.ts";
import { MAIN_TASK_QUEUE, SEARCH_ATTRIBUTES } from "../contract/index.ts";
import { GRPC } from "../starter/errors.ts";

/** Temporal cannot be used as it is; the message says what to do about it. */
export class TemporalError extends Error {
  override readonly name = "TemporalError";
  readonly code: "unreachable" | "refused" | "no-namespace" | "no-search-attributes";

  constructor(code: TemporalError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const CALL_MS = 10_000;
/** gRPC status codes beside those of {@link GRPC}. */
const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;
const UNAUTHENTICATED = 16;
/** Not every server has everything, or lets everybody look at it. */
const NOT_FOR_US = [PERMISSION_DENIED, UNIMPLEMENTED];

/** @throws TemporalError where the namespace is not there, or is not ours to use */
export async function requireNamespace(connection: ConnectionLike, temporal: TemporalConnection): Promise<void> {
  const { namespace } = temporal;
  try {
    await connection.withDeadline(Date.now() + CALL_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } catch (error) {
    throw temporalErrorOf(error, temporal);
  }
}

/** @throws TemporalError where the namespace lacks search attributes, which sales cannot start without */
export async function requireSearchAttributes(connection: ConnectionLike, temporal: TemporalConnection): Promise<void> {
  const { namespace } = temporal;
  const { missing, wrongType } = await connection.withDeadline(Date.now() + CALL_MS, () =>
    readSearchAttributes(connection, namespace),
  );
  const wrong = wrongType.map(({ name, type }) => `${name} (is ${type}, must be Keyword)`);
  if (missing.length === 0 && wrong.length === 0) return;
  const lacks = [...missing, ...wrong].join(", ");
  throw new TemporalError(
    "no-search-attributes",
    `The namespace "${namespace}" of Temporal at ${temporalAddress(temporal)} lacks search attributes: ${lacks}. Run \`fiscalflow setup\`, which adds them.`,
  );
}

/** What a failed call of Temporal means for those who run the product. */
export function temporalErrorOf(error: unknown, temporal: TemporalConnection): unknown {
  if (error instanceof TemporalError) return error;
  const grpc = grpcError(error);
  if (grpc === undefined) return error;
  const { code, details } = grpc;
  // Temporal is there, and the deadline that passed was that of a worker's answer.
  const isUnanswered = error instanceof FiscalflowError && (error.code === "NoAnswer" || error.code === "NoWorker");
  if (isUnanswered && code !== GRPC.UNAVAILABLE) return error;
  const address = temporalAddress(temporal);
  const { namespace } = temporal;
  if (code === GRPC.NOT_FOUND) {
    const message = `Temporal at ${address} has no namespace "${namespace}". Set TEMPORAL_NAMESPACE to one that it has, or create it: temporal operator namespace create --namespace ${namespace}`;
    return new TemporalError("no-namespace", message, { cause: error });
  }
  if (isRefusal(error)) {
    const message = `Temporal at ${address} refuses us in the namespace "${namespace}": ${details}. Check TEMPORAL_API_KEY or TEMPORAL_TLS_*, and what they may do.`;
    return new TemporalError("refused", message, { cause: error });
  }
  if (code === GRPC.UNAVAILABLE || code === GRPC.DEADLINE_EXCEEDED)
    return unreachable(temporal, details || "no answer in time", error);
  return error;
}

/**
 * Whether Temporal says that there is no such thing for us, which it would say again. Any other failure says nothing: the
 * server is away, busy or failing, or what answered was not Temporal.
 */
export function isNoneForUs(error: unknown): boolean {
  const code = grpcError(error)?.code;
  return code === GRPC.NOT_FOUND || (code !== undefined && NOT_FOR_US.includes(code));
}

/** Whether Temporal has answered, and lets this process do nothing. */
export function isRefusal(error: unknown): boolean {
  const code = grpcError(error)?.code;
  return code === PERMISSION_DENIED || code === UNAUTHENTICATED;
}

function grpcError(error: unknown): { code: number; details: string } | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isGrpcServiceError(cause)) return { code: Number(cause.code), details: cause.details };
  }
  return undefined;
}

const DEFAULT_PORT = 7233;
const DEFAULT_ADDRESS = `localhost:${DEFAULT_PORT}`;
const CONNECT_MS = 5_000;
const PROXY_VARIABLES = ["grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY", "HTTP_PROXY"];

/** Where Temporal is looked for, as it is shown to people. */
export function temporalAddress({ connectionOptions }: Pick<TemporalConnection, "connectionOptions">): string {
  return connectionOptions.address ?? DEFAULT_ADDRESS;
}

/**
 * Whether anybody listens at Temporal's address. The client would go on trying for ten seconds, and then say no more
 * than that the time is up.
 * @throws TemporalError
 */
export async function requireListener(temporal: TemporalConnection, env: Environment): Promise<void> {
  if (isProxied(env)) return;
  const address = temporalAddress(temporal);
  const { hostname, port } = parseAddress(address);
  const reason = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ host: hostname, port, timeout: CONNECT_MS });
    const end = (outcome: string | undefined): void => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once("connect", () => end(undefined));
    socket.once("timeout", () => end(`no answer within ${CONNECT_MS / 1_000} s`));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
  if (reason !== undefined) throw unreachable(temporal, reason);
}

export function unreachable(temporal: TemporalConnection, reason: string, cause?: unknown): TemporalError {
  const advice = temporal.addressGiven
    ? "Check TEMPORAL_ADDRESS (or the profile), and that the server runs and can be reached from here"
    : "No address is configured, so this is Temporal's usual one: set TEMPORAL_ADDRESS, or start a server there with `temporal server start-dev`";
  const message = `Temporal at ${temporalAddress(temporal)} cannot be reached (${reason}). ${advice}.`;
  return new TemporalError("unreachable", message, cause === undefined ? undefined : { cause });
}

/** Whether the connection goes through a proxy: then the address need not be reachable from here. */
export function isProxied(env: Environment): boolean {
  return PROXY_VARIABLES.some((name) => env[name]);
}

export function parseAddress(address: string): { hostname: string; port: number } {
  const url = `tcp://${address.replace(/^[a-z]+:\/\//i, "")}`;
  if (!URL.canParse(url)) return { hostname: address, port: DEFAULT_PORT };
  const { hostname, port } = new URL(url);
  return { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || DEFAULT_PORT };
}

/** `IndexedValueType` of Temporal's API. */
const TYPES = ["none", "Text", "Keyword", "Int", "Double", "Bool", "Datetime", "KeywordList"];
export const KEYWORD = 2;

export interface SearchAttributeStates {
  ready: string[];
  missing: string[];
  /** There under our name, as something else. */
  wrongType: { name: string; type: string }[];
}

const INVALID_ARGUMENT = 3;

/** Which of the product's search attributes a namespace has. */
export async function readSearchAttributes(
  connection: ConnectionLike,
  namespace: string,
): Promise<SearchAttributeStates> {
  let known: Record<string, unknown>;
  try {
    known = { ...(await connection.operatorService.listSearchAttributes({ namespace })).customAttributes };
  } catch (error) {
    if (!isGrpcServiceError(error) || !NOT_FOR_US.includes(Number(error.code))) throw error;
    return readByQuery(connection, namespace);
  }
  const states: SearchAttributeStates = { ready: [], missing: [], wrongType: [] };
  for (const name of Object.values(SEARCH_ATTRIBUTES)) {
    if (!Object.hasOwn(known, name)) states.missing.push(name);
    else if (Number(known[name]) === KEYWORD) states.ready.push(name);
    else states.wrongType.push({ name, type: TYPES[Number(known[name])] ?? `type ${String(known[name])}` });
  }
  return states;
}

/** Whether every search attribute can be used in a query already: after registration that takes a moment. */
export async function searchAttributesUsable(connection: ConnectionLike, namespace: string): Promise<boolean> {
  return (await readByQuery(connection, namespace)).missing.length === 0;
}

async function readByQuery(connection: ConnectionLike, namespace: string): Promise<SearchAttributeStates> {
  const states: SearchAttributeStates = { ready: [], missing: [], wrongType: [] };
  for (const name of Object.values(SEARCH_ATTRIBUTES)) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query: `${name} = "-"` });
      states.ready.push(name);
    } catch (error) {
      if (!isGrpcServiceError(error) || Number(error.code) !== INVALID_ARGUMENT) throw error;
      states.missing.push(name);
    }
  }
  return states;
}

/** `TASK_QUEUE_TYPE_WORKFLOW` and `TASK_QUEUE_TYPE_ACTIVITY` of Temporal's API. */
const QUEUE_TYPES = { workflow: 1, activity: 2 } as const;
/** A poll lasts a minute at most; who has not polled for longer does not poll any more. */
const POLLED_WITHIN_MS = 90_000;

/** A worker that Temporal has seen polling lately, and when it began its last poll. */
export interface RecentPoll {
  identity: string;
  polledAtMs: number;
  /** Undefined where it belongs to no Worker Deployment. */
  version: WorkerDeploymentVersion | undefined;
}

export interface PolledQueue {
  polls: RecentPoll[];
  /**
   * The version to which Temporal hands tasks, although no worker of it polls, in words; undefined where one does, or no
   * worker polls at all.
   */
  unserved: string | undefined;
}

/** Who polls a queue; default: the main queue, for workflows. */
export async function polledQueue(
  connection: ConnectionLike,
  namespace: string,
  { name, type }: { name: string; type: keyof typeof QUEUE_TYPES } = { name: MAIN_TASK_QUEUE, type: "workflow" },
): Promise<PolledQueue> {
  const { pollers, versioningInfo } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: QUEUE_TYPES[type],
  });
  const polls = (pollers ?? []).flatMap(({ identity, lastAccessTime, deploymentOptions }) => {
    if (!identity || !lastAccessTime) return [];
    const polledAtMs = tsToMs(lastAccessTime);
    const isVersioned = deploymentOptions?.workerVersioningMode === VERSIONED;
    const version = isVersioned ? versionIn(deploymentOptions) : undefined;
    return Date.now() - polledAtMs <= POLLED_WITHIN_MS ? [{ identity, polledAtMs, version }] : [];
  });
  const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } = versioningInfo ?? {};
  const handedTo = [versionIn(currentDeploymentVersion)];
  if (rampingVersionPercentage) handedTo.push(versionIn(rampingDeploymentVersion));
  const served = new Set(polls.map(({ version }) => inWords(version)));
  const unserved = handedTo.map(inWords).find((version) => !served.has(version));
  return { polls, unserved: polls.length === 0 ? undefined : unserved };
}

/** `WORKER_VERSIONING_MODE_VERSIONED` of Temporal's API. */
const VERSIONED = 2;

/** As Temporal's API has it; none is that of all workers without a deployment. */
function versionIn(
  given: { deploymentName?: string | null; buildId?: string | null } | null | undefined,
): WorkerDeploymentVersion | undefined {
  const { deploymentName, buildId } = given ?? {};
  return deploymentName && buildId ? { deploymentName, buildId } : undefined;
}

function inWords(version: WorkerDeploymentVersion | undefined): string {
  return version ? `the version ${version.buildId} of ${version.deploymentName}` : "workers without a deployment";
}

/** @param unserved that of a {@link PolledQueue} */
export function unservedReason(unserved: string): string {
  return `Temporal hands the tasks of "${MAIN_TASK_QUEUE}" to ${unserved}, and none of those polls: sales are accepted and wait`;
}
