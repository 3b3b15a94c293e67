import { rateLimited } from "./admit-call.ts";
import type { ApiFaultKind, FaultOf } from "./fault-schema.ts";
import type { Quota } from "./rate-windows.ts";

interface Written {
  status: number;
  headers: Record<string, string>;
  payload: string;
}

/** What goes onto the connection. `half` promises the whole payload and breaks off in its middle. */
export type Delivery = ({ kind: "answer" } & Written) | ({ kind: "half" } & Written) | { kind: "drop" };

const json = { "content-type": "application/json; charset=utf-8" };

function disturbed(value: unknown): unknown {
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value.length;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return Object.fromEntries(value.map((entry, index) => [String(index), disturbed(entry)]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, disturbed(entry)]));
}

/** What a fault sends instead of the real answer (null when the operation was not processed). */
export function faultDelivery(fault: FaultOf<ApiFaultKind>, real: Delivery | null, quota: Quota): Delivery {
  const answer: Written =
    real?.kind === "answer"
      ? real
      : {
          status: 200,
          headers: json,
          payload: JSON.stringify({ data: { sale: { id: "sale_", status: "pending" }, items: [] } }),
        };
  const status = fault.status ?? answer.status;
  const headers = { ...answer.headers, ...fault.headers };
  switch (fault.kind) {
    case "status":
      return {
        kind: "answer",
        status: fault.status ?? 503,
        headers: { ...json, ...fault.headers },
        payload: JSON.stringify(fault.body ?? { error: { code: "unavailable", message: "Injected fault" } }),
      };
    case "rate-limit": {
      const error = rateLimited(quota, fault.retryAfterSeconds ?? quota.resetSeconds);
      return {
        kind: "answer",
        status: error.status,
        headers: { ...json, ...error.headers, ...fault.headers },
        payload: JSON.stringify(fault.body ?? { error: { code: error.code, message: error.message } }),
      };
    }
    case "not-json":
      return {
        kind: "answer",
        status,
        headers: { ...headers, "content-type": "text/html; charset=utf-8" },
        payload: typeof fault.body === "string" ? fault.body : "<html><body>Bad gateway</body></html>",
      };
    case "wrong-types": {
      const parsed: unknown = JSON.parse(answer.payload);
      return { kind: "answer", status, headers, payload: JSON.stringify(fault.body ?? disturbed(parsed)) };
    }
    case "half-body":
      return { kind: "half", status, headers, payload: answer.payload };
    case "drop":
    case "slow":
      return { kind: "drop" };
  }
}
