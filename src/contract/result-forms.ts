import { ATTENTION_CODES } from "./attention.ts";
import type { CreateResult } from "./document-calls.ts";
import type { AdjustStockResult } from "./movement-calls.ts";
import type { ProcessBatchResult } from "./sync-batch.ts";

/**
 * The forms of results that a workflow acts upon. Whoever may write to the namespace can complete an activity by hand
 * with anything (`temporal activity complete`): a result of another form would end a workflow task for ever, or stand
 * for an answer that nobody has given. One of the right form is that person's decision.
 */

type Check = (value: unknown) => boolean;

/** By kind: what must be there, and how. */
type FormsOf<Result extends { kind: string }> = {
  readonly [Kind in Result["kind"]]: {
    readonly [Field in Exclude<keyof Extract<Result, { kind: Kind }>, "kind">]?: Check;
  };
};

const text: Check = (value) => typeof value === "string";
const instant: Check = (value) => typeof value === "number" && Number.isFinite(value);
const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 1;
const record: Check = (value) => isRecord(value);
const attention: Check = (value) => ATTENTION_CODES.some((code) => code === value);
const refusal: Check = (value) => isRecord(value) && hasFields(value, REFUSAL);
const word: Check = (value) => isRecord(value) && text(value["note"]) && instant(value["atMs"]);
const document: Check = (value) =>
  isRecord(value) &&
  [value["id"], value["type"], value["status"], value["traderInvoiceNumber"]].every(text) &&
  Array.isArray(value["lines"]) &&
  isRecord(value["totals"]);

const REFUSAL = { attention, message: text };
/** Of a call that is sent at most once, in each of its kinds but those of its own. */
const CLAIMED = {
  deferred: { message: text },
  superseded: { generation: count },
  unknown: { message: text, evidence: record },
};

const CREATED: FormsOf<CreateResult> = {
  document: { document },
  named: { saleId: text, message: text },
  rejected: { message: text },
  "already-credited": { message: text },
  "number-taken": { message: text },
  superseded: { intent: count },
  deferred: { message: text },
  unknown: { message: text, evidence: record },
  refused: REFUSAL,
};

const ADJUSTED: FormsOf<AdjustStockResult> = {
  ...CLAIMED,
  applied: { movementId: text, sentAtMs: instant },
  "said-applied": { word },
  "branch-held": { message: text, hold: record },
  "not-applied": { refusal },
};

const PROCESSED: FormsOf<ProcessBatchResult> = {
  ...CLAIMED,
  processed: { message: text },
  "said-processed": { word },
  "not-processed": { refusal },
};

/** By activity. */
const RESULT_FORMS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  createSale: CREATED,
  createCreditNote: CREATED,
  adjustStock: ADJUSTED,
  processSyncBatch: PROCESSED,
};

/** Whether it is a result of the activity. One that is not listed above is believed. */
export function isResultOf(activity: string, result: unknown): boolean {
  const forms = RESULT_FORMS[activity];
  if (!forms) return true;
  if (!isRecord(result) || typeof result["kind"] !== "string" || !Object.hasOwn(forms, result["kind"])) return false;
  return hasFields(result, forms[result["kind"]] ?? {});
}

function hasFields(value: Record<string, unknown>, fields: object): boolean {
  return Object.entries(fields).every(([name, check]: [string, Check]) => check(value[name]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
