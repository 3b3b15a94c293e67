import type { FastifyReply } from "fastify";
import type { CallFaultKind, FaultOf } from "./faults.ts";
import { rateLimited, type Quota } from "./keyring.ts";

interface Written {
  status: number;
  headers: Record<string, string>;
  payload: string;
}

/** What goes onto the connection. `half` promises the whole payload and breaks off in its middle. */
export type Delivery = ({ kind: "answer" | "half" } & Written) | { kind: "drop" };

export const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };

/** Where an operation is not processed, a fault disturbs this answer. */
const UNPROCESSED: Written = {
  status: 200,
  headers: JSON_HEADERS,
  payload: JSON.stringify({ data: { sale: { id: "sale_", status: "pending" }, items: [] } }),
};

function disturbed(value: unknown): unknown {
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value.length;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return Object.fromEntries(value.map((entry, index) => [String(index), disturbed(entry)]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, disturbed(entry)]));
}

/** What a fault sends instead of the real answer (null when the operation was not processed). */
export function faultDelivery(fault: FaultOf<CallFaultKind>, real: Written | null, quota: Quota): Delivery {
  const answer = real ?? UNPROCESSED;
  const status = fault.status ?? answer.status;
  const headers = { ...answer.headers, ...fault.headers };
  const instead = (code: number, named: Record<string, string>, body: unknown): Delivery => {
    return { kind: "answer", status: code, headers: { ...JSON_HEADERS, ...named }, payload: JSON.stringify(body) };
  };
  switch (fault.kind) {
    case "status": {
      const body = fault.body ?? { error: { code: "unavailable", message: "Injected fault" } };
      return instead(fault.status ?? 503, { ...fault.headers }, body);
    }
    case "rate-limit": {
      const error = rateLimited(quota, fault.retryAfterSeconds ?? quota.resetSeconds);
      const body = fault.body ?? { error: { code: error.code, message: error.message } };
      return instead(error.status, { ...error.headers, ...fault.headers }, body);
    }
    case "not-json": {
      const payload = typeof fault.body === "string" ? fault.body : "<html><body>Bad gateway</body></html>";
      return { kind: "answer", status, headers: { ...headers, "content-type": "text/html; charset=utf-8" }, payload };
    }
    case "wrong-types": {
      const body = fault.body ?? disturbed(JSON.parse(answer.payload));
      return { kind: "answer", status, headers, payload: JSON.stringify(body) };
    }
    case "half-body":
      return { kind: "half", status, headers, payload: answer.payload };
    case "drop":
    case "slow":
      return { kind: "drop" };
  }
}

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
