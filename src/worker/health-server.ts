import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { Readiness } from "./readiness.ts";

export interface HealthServer {
  port: number;
  close(): Promise<void>;
}

/**
 * `GET /healthz`: the process is alive. `GET /readyz`: 200 where it takes work, else 503 with the reason.
 * @throws Error where the port cannot be used
 */
export async function startHealthServer(port: number, readiness: () => Promise<Readiness>): Promise<HealthServer> {
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
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code ?? error.message;
      reject(new Error(`HEALTH_PORT ${port} cannot be used (${reason}). Choose another port.`, { cause: error }));
    });
    server.listen(port, "0.0.0.0", resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
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
