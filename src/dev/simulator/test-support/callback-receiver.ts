import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Listens for callbacks on loopback until the test ends; answers the given statuses in turn, the last one for ever. */
export async function callbackReceiver(
  statuses: readonly number[] = [204],
): Promise<{ url: string; received: unknown[] }> {
  const received: unknown[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      received.push(body);
      response.writeHead(statuses[Math.min(received.length, statuses.length) - 1] ?? 204).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address: string | AddressInfo | null = server.address();
  if (address === null || typeof address === "string") throw new Error("The receiver has no port");
  return { url: `http://127.0.0.1:${address.port}/callbacks/token`, received };
}
