import { type ConnectionLike, isGrpcServiceError } from "@temporalio/client";
import { connect } from "node:net";

import type { Environment, TemporalConnection } from "../config/index.ts";
import { FiscalflowError } from "../contract/errors.ts";
import { readSearchAttributes } from "./search-attributes.ts";

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
/** gRPC status codes. */
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

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

/** What a failed call of Temporal means for whoever runs the product. */
export function temporalErrorOf(error: unknown, temporal: TemporalConnection): unknown {
  if (error instanceof TemporalError) return error;
  const grpc = grpcError(error);
  if (grpc === undefined) return error;
  const { code, details } = grpc;
  // Temporal is there, and the deadline that passed was that of a worker's answer.
  const isUnanswered = error instanceof FiscalflowError && (error.code === "NoAnswer" || error.code === "NoWorker");
  if (isUnanswered && code !== UNAVAILABLE) return error;
  const address = temporalAddress(temporal);
  const { namespace } = temporal;
  if (code === NOT_FOUND) {
    const message = `Temporal at ${address} has no namespace "${namespace}". Set TEMPORAL_NAMESPACE to one that it has, or create it: temporal operator namespace create --namespace ${namespace}`;
    return new TemporalError("no-namespace", message, { cause: error });
  }
  if (isRefusal(error)) {
    const message = `Temporal at ${address} refuses us in the namespace "${namespace}": ${details}. Check TEMPORAL_API_KEY or TEMPORAL_TLS_*, and what they may do.`;
    return new TemporalError("refused", message, { cause: error });
  }
  if (code === UNAVAILABLE || code === DEADLINE_EXCEEDED) return unreachable(temporal, details, error);
  return error;
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
