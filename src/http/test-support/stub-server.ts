import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface SeenRequest {
  method: string;
  /** Path and query as they came. */
  target: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The number of the connection that carried it, from 1. */
  connection: number;
}

export interface StubServer {
  baseUrl: string;
  requests: SeenRequest[];
  connections: () => number;
  close: () => Promise<void>;
}

export type Respond = (response: ServerResponse, request: SeenRequest) => void;

/** A real HTTP server on loopback that remembers what it was asked. */
export async function startStubServer(respond: Respond): Promise<StubServer> {
  const requests: SeenRequest[] = [];
  const numbers = new Map<Socket, number>();
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const seen: SeenRequest = {
        method: incoming.method ?? "",
        target: incoming.url ?? "",
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString(),
        connection: numbers.get(incoming.socket) ?? 0,
      };
      requests.push(seen);
      respond(response, seen);
    });
  });
  server.on("connection", (socket) => numbers.set(socket, numbers.size + 1));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    connections: () => numbers.size,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export function respondJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
