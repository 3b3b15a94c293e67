import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Refusal } from "./refusal.ts";
import type { AccountingApplication } from "./scenario.ts";

/** Document, "Limits": tolerance of the timestamp of a signed request. */
const toleranceMs = 5 * 60_000;

export interface Arrived {
  method: string;
  /** As it stands in the request line, with its query. */
  target: string;
  headers: IncomingHttpHeaders;
  /** The bytes as they came. */
  body: Buffer;
}

/**
 * Document, "Authentication" 1 to 5: the key always; the signature where its headers are sent, over the bytes that
 * came.
 * @throws Refusal 401
 */
export function authenticate(
  call: Arrived,
  applications: readonly AccountingApplication[],
  { withQuery, required, nowMs }: { withQuery: boolean; required: boolean; nowMs: number },
): AccountingApplication {
  const key = call.headers["x-api-key"];
  const application = applications.find(({ keys }) => typeof key === "string" && keys.includes(key));
  if (application === undefined) throw new Refusal(401, "The API key is missing or invalid");
  if (!application.active) throw new Refusal(401, "The application is not active");
  const isSigned = call.headers["x-signature"] !== undefined || call.headers["x-timestamp"] !== undefined;
  if (!isSigned && !required) return application;
  if (isGood(call, application.clientSecret, withQuery, nowMs)) return application;
  throw new Refusal(401, "The signature is not valid");
}

function isGood(
  { method, target, headers, body }: Arrived,
  secret: string | null,
  withQuery: boolean,
  nowMs: number,
): boolean {
  const signature = headers["x-signature"];
  const timestamp = headers["x-timestamp"];
  if (secret === null || typeof signature !== "string" || typeof timestamp !== "string") return false;
  if (!/^[0-9]{1,16}$/.test(timestamp) || Math.abs(Number(timestamp) - nowMs) > toleranceMs) return false;
  const path = withQuery ? target : (target.split("?")[0] ?? "");
  const hmac = createHmac("sha256", secret);
  for (const part of [method.toUpperCase(), path, body, timestamp]) hmac.update(part);
  const expected = hmac.digest();
  const given = Buffer.from(signature, "hex");
  return /^[0-9a-f]{64}$/.test(signature) && timingSafeEqual(expected, given);
}
