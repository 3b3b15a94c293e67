import { sha256Hex } from "./sha256.ts";

/** What a key must look like (Fiscal Compliance API, POST /v1/credit-notes). */
export const IDEMPOTENCY_KEY_PATTERN = /^[A-Za-z0-9._:-]{8,128}$/;

const READABLE_LENGTH = 40;
const KIND_LENGTH = 20;

/**
 * The Idempotency-Key of one intent of one workflow. It hangs on the workflow's id and the step alone, so that a retry,
 * a replay, a reset and a second start all carry the same key, and it is valid for every invoice number: what the
 * pattern does not allow is kept by the digest. A step is a word, with what tells it from others of its kind after a
 * space; `intent` counts the decisions of an operator that ask for something new.
 */
export function idempotencyKey(workflowId: string, step: string, intent = 1): string {
  const digest = sha256Hex(JSON.stringify([workflowId, step, intent]));
  const readable = allowed(decodeURIComponent(lastPart(workflowId))).slice(0, READABLE_LENGTH);
  const kind = allowed(step.split(" ", 1)[0] ?? "").slice(0, KIND_LENGTH);
  return `${kind}:${readable}:${digest}`;
}

function allowed(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/g, "-");
}

/** The invoice number of a sale or the sale of a credit note; an id that was cut may end in half an escape. */
function lastPart(workflowId: string): string {
  const part = workflowId.slice(workflowId.lastIndexOf("/") + 1).split("~")[0] ?? "";
  try {
    decodeURIComponent(part);
    return part;
  } catch {
    return part.replaceAll("%", "-");
  }
}
