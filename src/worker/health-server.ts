import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { Readiness } from "./readiness.ts";

/** Where a server of the worker listens. */
export interface ListenAddress {
  /** An IP address of this machine; `0.0.0.0` or `::` for all. */
  host: string;
  /** 0 takes any free port. */
  port: number;
}

export interface HealthServer {
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
  variables: "HEALTH" | "METRICS" | "CALLBACK",
  address: ListenAddress,
  cause: NodeJS.ErrnoException,
): Error {
  const reason = cause.code ?? cause.message;
  const message =
    reason === "EADDRNOTAVAIL"
      ? `${variables}_HOST ${address.host} is not an address of this machine (${reason}). Choose one that is, or 0.0.0.0 for all.`
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
