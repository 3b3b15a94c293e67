import type { FastifyReply } from "fastify";

import type { Delivery } from "./fault-delivery.ts";

/** Sends what a call comes to, whole, in half or not at all, and writes its status into the log where there is one. */
export function deliver(reply: FastifyReply, delivery: Delivery, entry: { status: number | null }): void {
  if (delivery.kind === "answer") {
    entry.status = delivery.status;
    void reply.code(delivery.status).headers(delivery.headers).send(delivery.payload);
    return;
  }
  reply.hijack();
  if (delivery.kind === "drop") {
    reply.raw.destroy();
    return;
  }
  const payload = Buffer.from(delivery.payload);
  reply.raw.writeHead(delivery.status, { ...delivery.headers, "content-length": payload.length });
  reply.raw.write(payload.subarray(0, Math.floor(payload.length / 2)), () => reply.raw.destroy());
}

/** Parameters of a path, or of a query, as they came. */
export function stringsOf(value: unknown): Record<string, string> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([name, entry]) => [name, String(entry)]));
}
