import type { ConnectionLike } from "@temporalio/client";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { MAIN_TASK_QUEUE } from "../contract/index.ts";
import { rememberAnswer } from "../http/deadline.ts";
import { isRefusal, polledQueue, unservedReason } from "./require-temporal.ts";

/** Where a server of the worker listens. */
export interface ListenAddress {
  /** An IP address of this machine; `0.0.0.0` or `::` for all. */
  host: string;
  /** 0 takes any free port. */
  port: number;
}

interface HealthServer {
  port: number;
  close(): Promise<void>;
}

/**
 * `GET /healthz`: the process is alive. `GET /readyz`: 200 where it takes work, else 503 with the reason.
 * @throws Error where the address or the port cannot be used
 */
export async function startHealthServer(
  address: ListenAddress,
  readiness: () => Promise<Readiness>,
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const [path] = (request.url ?? "").split("?", 1);
    if (path !== "/healthz" && path !== "/readyz") return answer(response, 404, { status: "not found" });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return answer(response.setHeader("allow", "GET, HEAD"), 405, { status: "only GET and HEAD" });
    }
    if (path === "/healthz") return answer(response, 200, { status: "alive" });
    readiness().then(
      (state) => answer(response, state.ready ? 200 : 503, state.ready ? { status: "ready" } : notReady(state.reason)),
      () => answer(response, 503, notReady("the check failed")),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenError("HEALTH", address, error)));
    server.listen(address.port, address.host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

/** Names the variable to change. */
export function listenError(
  variables: "HEALTH" | "METRICS" | "CALLBACK" | "FISCALFLOW_CODEC",
  address: ListenAddress,
  cause: NodeJS.ErrnoException,
): Error {
  const reason = cause.code ?? cause.message;
  const isMonitoring = variables === "HEALTH" || variables === "METRICS";
  const message =
    reason === "EADDRNOTAVAIL"
      ? `${isMonitoring ? "MONITORING" : variables}_HOST ${address.host} is not an address of this machine (${reason}). Choose one that is, or 0.0.0.0 for all.`
      : `${variables}_PORT ${address.port} cannot be used (${reason}). Choose another port.`;
  return new Error(message, { cause });
}

function notReady(reason: string): object {
  return { status: "not ready", reason };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    // Probes keep their connections.
    server.closeAllConnections();
  });
}

export type Readiness = { ready: true } | { ready: false; reason: string };

export const READINESS_CALL_MS = 3_000;
/** The question costs Temporal a request, and probes come often. */
const ANSWER_LASTS_MS = 5_000;

interface ReadinessOptions {
  /** States of all workers. */
  states: () => readonly string[];
  connection: ConnectionLike;
  namespace: string;
  identity: string;
  /** What keeps this process from Temporal although somebody listens there, in words. */
  whyAway: () => Promise<string | undefined>;
  nowMs?: () => number;
}

/**
 * Whether this process takes work, or is ready to: every worker runs, Temporal has seen its workflow poller lately, and
 * some worker polls that gets the tasks. A closed request budget is ready, since the work waits where it should.
 */
export function createReadiness(options: ReadinessOptions): () => Promise<Readiness> {
  const { states, nowMs = Date.now } = options;
  const polls = rememberAnswer(() => pollsWorkflows(options), ANSWER_LASTS_MS, nowMs);
  return async () => {
    const idle = states().find((state) => state !== "RUNNING");
    if (idle !== undefined) return { ready: false, reason: `a worker is ${idle}` };
    return await polls();
  };
}

async function pollsWorkflows({ connection, namespace, identity, whyAway }: ReadinessOptions): Promise<Readiness> {
  try {
    const { polls, unserved } = await connection.withDeadline(Date.now() + READINESS_CALL_MS, () =>
      polledQueue(connection, namespace),
    );
    if (!polls.some((poll) => poll.identity === identity))
      return { ready: false, reason: `Temporal knows no recent poll of ${identity} on ${MAIN_TASK_QUEUE}` };
    return unserved === undefined ? { ready: true } : { ready: false, reason: unservedReason(unserved) };
  } catch (error) {
    if (isRefusal(error)) return { ready: false, reason: "Temporal refuses this worker" };
    return { ready: false, reason: (await whyAway()) ?? "Temporal cannot be reached" };
  }
}
