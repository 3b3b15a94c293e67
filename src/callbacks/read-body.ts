import type { IncomingMessage } from "node:http";

/** How much more than the limit is read and thrown away, so that the sender gets to see the 413 instead of a reset. */
const DRAINED_LIMITS = 8;

/**
 * Reads a request's body, whatever its content type, with or without Content-Length.
 * @returns the bytes; `too-large` beyond `limitBytes`; `cut-off` when the connection ended before the body did
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | "too-large" | "cut-off"> {
  const drainBytes = limitBytes * DRAINED_LIMITS;
  if (Number(request.headers["content-length"] ?? 0) > drainBytes) return Promise.resolve("too-large");
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let receivedBytes = 0;
    const finish = (result: Buffer | "too-large" | "cut-off"): void => {
      request.off("data", onData);
      resolve(result);
    };
    const onData = (chunk: Buffer): void => {
      receivedBytes += chunk.length;
      if (receivedBytes <= limitBytes) chunks.push(chunk);
      else chunks.length = 0;
      if (receivedBytes > drainBytes) finish("too-large");
    };
    request.on("data", onData);
    request.once("end", () => finish(receivedBytes > limitBytes ? "too-large" : Buffer.concat(chunks)));
    request.once("error", () => finish("cut-off"));
    request.once("close", () => finish("cut-off"));
  });
}
