import type { AccountingActivities, ComplianceActivities, MainActivities } from "./activities.ts";
import { ATTENTION_CODES } from "./names.ts";

/**
 * Of each activity's result, checked where it enters the workflow: an operator can complete an activity with
 * anything. A form names what the workflow goes into, and nothing that workers of an earlier version left out.
 */
export type Form = (value: unknown) => boolean;

const text: Form = (value) => typeof value === "string";
const number: Form = (value) => typeof value === "number";
const count: Form = (value) => Number.isSafeInteger(value) && Number(value) >= 1;
const flag: Form = (value) => typeof value === "boolean";
const object: Form = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** Of an activity that returns nothing. What an operator completes it with is not nothing. */
const nothing: Form = (value) => value === undefined;

/** Left out, or null. */
const optional =
  (form: Form): Form =>
  (value) =>
    value === undefined || value === null || form(value);

const oneOf =
  (...words: readonly unknown[]): Form =>
  (value) =>
    words.includes(value);

const listOf =
  (form: Form): Form =>
  (value) =>
    Array.isArray(value) && value.every(form);

/** An object that has these fields; it may have more. */
const fields =
  (forms: Readonly<Record<string, Form>>): Form =>
  (value) =>
    object(value) && Object.entries(forms).every(([name, form]) => form((value as Record<string, unknown>)[name]));

/** An object whose `kind` is one of these, and which has the fields of that kind. */
const kinds =
  (forms: Readonly<Record<string, Form>>): Form =>
  (value) => {
    const { kind } = (value ?? {}) as { kind?: unknown };
    return typeof kind === "string" && Object.hasOwn(forms, kind) && object(value) && forms[kind]?.(value) === true;
  };

const refused = fields({ attention: oneOf(...ATTENTION_CODES), message: text });
/** The same, or that an operator is needed before this can go on. */
const orRefused = (forms: Readonly<Record<string, Form>>): Form => kinds({ ...forms, refused });

const message = fields({ message: text });
const decision = fields({ note: text, atMs: number });
const decided = fields({ decision });
const superseded = fields({ generation: count, decision: optional(decision) });
const unknown = fields({ message: text, evidence: object });
const line = { itemId: text, quantity: number, unitPrice: number };
const document = fields({
  id: text,
  type: text,
  status: text,
  traderInvoiceNumber: text,
  lines: listOf(fields(line)),
  totals: fields({ total: number }),
});
const readDocument = orRefused({ document: fields({ document }) });
const item = fields({ id: text, stockTracked: flag, registrationStatus: text });
const movements = listOf(fields({ ...line, referenceId: text, purpose: text, action: text, state: text }));
const resolved = orRefused({
  resolved: fields({ items: listOf(item) }),
  unknown: fields({ unknown: listOf(fields({ line: number, reason: text })), items: optional(listOf(item)) }),
});
const composed = orRefused({
  composed: fields({ request: fields({ path: text, bodyJson: text }), callbackExpected: flag }),
});
const timings = fields({
  callTimeoutMs: number,
  resubmissionDelaysMs: listOf(number),
  firstPollMs: number,
  firstPollWithCallbackMs: number,
  slowAfterMs: number,
});
const profile = fields({ connection: text, application: text, keyReach: text, saleKey: text, timings });
const accountingProfile = fields({ connection: text, callTimeoutMs: number });

const applied = fields({ movementId: text, sentAtMs: number, decision: optional(decision) });
const settledMovement = { applied, "decided-applied": decided, superseded };
const knownMovement = kinds({ ...settledMovement, unknown });
const knownBatch = kinds({ processed: message, "decided-processed": decided, superseded, unknown });
/** Of a call that is sent at most once. A result of another form is a lost answer: its claim tells what became of it. */
const claimed = { deferred: message, superseded, unknown, "in-progress": message };
const created = orRefused({
  document: fields({ document }),
  named: fields({ saleId: text, message: text }),
  rejected: message,
  "already-credited": message,
  "number-taken": message,
  superseded: fields({ intent: count }),
  deferred: message,
  unknown,
});
const heldFields = { total: number, byStatus: object };
const held = fields(heldFields);
const keptPage = orRefused({
  page: fields({
    rows: number,
    added: number,
    changed: number,
    known: flag,
    nextCursor: optional(text),
    askedAtMs: number,
  }),
});

type Activities = MainActivities & ComplianceActivities & AccountingActivities;

export const RESULT_FORMS: Readonly<Record<keyof Activities, Form>> = {
  prepareSale: fields({
    profile,
    sale: fields({ traderInvoiceNumber: text, saleDate: text }),
    fingerprint: text,
    refundWindowMs: number,
    items: optional(listOf(item)),
    composed: optional(composed),
    finished: optional(fields({ stage: text, movements })),
    earlier: optional(fields({ sent: flag, signed: flag })),
  }),
  openCreditNote: fields({ sent: flag }),
  reserveReplacement: kinds({
    reserved: fields({ branch: optional(text), lines: optional(listOf(object)) }),
    refused: message,
  }),
  prepareSyncBillPayments: fields({ profile: accountingProfile, kind: text, statuses: listOf(text) }),
  prepareSyncBatch: fields({ profile: accountingProfile, syncBatchId: text }),
  prepareSyncPurchases: fields({ profile, kind: text, statuses: listOf(text) }),
  prepareRegisterItems: fields({ profile }),
  prepareReconcile: fields({ profile, rule: object }),
  composeSale: composed,
  composeCreditNote: composed,

  findSale: fields({ found: optional(object) }),
  readEvents: fields({ events: listOf(object) }),
  awaitReplacement: fields({
    seen: kinds({ open: object, signed: object, stopped: fields({ message: text, retryable: flag, begun: flag }) }),
    mark: text,
  }),
  awaitFirstOutcome: fields({ stage: text, stockMovements: movements }),
  awaitBranch: nothing,

  awaitLedger: nothing,
  readMovement: knownMovement,
  readTaken: listOf(fields({ ...line, referenceId: text })),
  watchDecision: fields({ outcome: kinds({ applied, "not-applied": message }) }),
  watchMovement: kinds({ ...settledMovement, balance: fields({ evidence: object }) }),
  decideMovement: knownMovement,
  settleMovement: nothing,
  acknowledgeBranch: nothing,
  settleDocument: nothing,
  isDocumentSent: flag,
  decideDocument: nothing,
  noteRun: nothing,
  releaseReplacement: nothing,
  documentsToReconcile: listOf(fields({ type: text, number: text, saleId: text })),
  reconcilePayments: kinds({ compared: fields({ accounting: text }), "not-compared": fields({ reason: text }) }),
  reconcileFindings: fields({ count: number, byKind: object, first: listOf(object) }),
  beginSync: fields({ kind: oneOf("recent", "full", "window"), startedAtMs: number }),
  countSync: held,
  daysOfChangedPurchases: listOf(fields({ from: text, to: text })),
  completePurchasesSync: fields({ ...heldFields, findings: object }),
  completeBillPaymentsSync: fields({ ...heldFields, missing: number }),
  readBatch: knownBatch,
  settleBatch: nothing,
  decideBatch: knownBatch,
  keepRegistrations: nothing,
  reportRegistrations: fields({ counts: object }),

  readItems: resolved,
  readBranch: orRefused({ branch: fields({ branch: fields({ id: text }) }) }),
  readDocument,
  keepDocument: readDocument,
  planRegistrations: orRefused({
    planned: fields({ items: listOf(fields({ id: text })), settled: object, total: number, next: optional(text) }),
  }),
  pullPurchases: orRefused({ pulled: object }),
  keepPurchasesPage: keptPage,
  reconcileDocument: orRefused({ final: object, "not-final": object, differs: object, unreadable: object }),
  registerItem: orRefused({
    registered: fields({ item }),
    "needs-data": fields({ item, message: text }),
    converging: message,
  }),
  retryDocument: orRefused({
    document: fields({ document }),
    rejected: fields({ document: optional(document), message: text }),
    converging: message,
  }),
  createSale: created,
  createCreditNote: created,
  adjustStock: kinds({
    ...claimed,
    applied,
    "decided-applied": decided,
    "branch-held": fields({ message: text, hold: object }),
    "not-applied": fields({ refusal: refused }),
  }),
  awaitItems: resolved,
  awaitDocument: readDocument,
  awaitService: nothing,

  keepBillPaymentsPage: keptPage,
  sampleBillPayments: orRefused({ sample: fields({ ids: listOf(text) }) }),
  processSyncBatch: kinds({
    ...claimed,
    processed: message,
    "decided-processed": decided,
    "not-processed": fields({ refusal: refused }),
  }),
  awaitAccounting: nothing,
};
