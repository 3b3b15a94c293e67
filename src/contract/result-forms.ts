import type { AccountingActivities, ComplianceActivities, MainActivities } from "./activities.ts";
import { ATTENTION_CODES } from "./attention.ts";

/**
 * The form of each activity's result, checked where it enters the workflow. A worker gives no other one, but an operator
 * can complete an activity with anything, in Temporal's UI or by `temporal activity complete`. Code of the workflow would
 * then fail, or take what is no answer for one. So a form names what the workflow goes into, and nothing that workers
 * of an earlier version left out.
 */
export type Form = (value: unknown) => boolean;

const text: Form = (value) => typeof value === "string";
const number: Form = (value) => typeof value === "number";
const count: Form = (value) => Number.isSafeInteger(value) && Number(value) >= 1;
const flag: Form = (value) => typeof value === "boolean";
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
    isObject(value) && Object.entries(forms).every(([name, form]) => form(value[name]));

/** An object whose `kind` is one of these, and which has the fields of that kind. */
const kinds =
  (forms: Readonly<Record<string, Form>>): Form =>
  (value) =>
    isObject(value) &&
    typeof value["kind"] === "string" &&
    Object.hasOwn(forms, value["kind"]) &&
    forms[value["kind"]]?.(value) === true;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const object = fields({});
const counts: Form = (value) => isObject(value) && Object.values(value).every(number);

const refused = fields({ attention: oneOf(...ATTENTION_CODES), message: text });
const word = fields({ note: text, atMs: number });
const said = fields({ word });
const superseded = fields({ generation: count, word: optional(word) });
const unknown = fields({ message: text, evidence: object });
const document = fields({
  id: text,
  type: text,
  status: text,
  traderInvoiceNumber: text,
  lines: listOf(fields({ itemId: text, quantity: number, unitPrice: number })),
  totals: fields({ total: number }),
});
const item = fields({ id: text, stockTracked: flag, registrationStatus: text });
const movement = fields({
  referenceId: text,
  purpose: text,
  action: text,
  itemId: text,
  quantity: number,
  state: text,
});

const readDocument = kinds({ document: fields({ document }), refused });
const items = kinds({
  resolved: fields({ items: listOf(item) }),
  unknown: fields({ unknown: listOf(fields({ line: number, reason: text })), items: optional(listOf(item)) }),
  refused,
});
const composed = kinds({
  composed: fields({ request: fields({ path: text, bodyJson: text }), callbackExpected: flag }),
  refused,
});

const applied = fields({ movementId: text, sentAtMs: number });
const settledMovement = { applied, "said-applied": said, superseded };
const knownBatch = kinds({ processed: fields({ message: text }), "said-processed": said, superseded, unknown });

const profile = fields({ connection: text, application: text, keyReach: text, saleKey: text, timings: counted() });
const accountingProfile = fields({ connection: text, callTimeoutMs: number });
const outcome = fields({ stage: text, stockMovements: listOf(movement) });

const keptPage = kinds({
  page: fields({
    rows: number,
    added: number,
    changed: number,
    known: flag,
    nextCursor: optional(text),
    askedAtMs: number,
  }),
  refused,
});

function counted(): Form {
  return fields({
    callTimeoutMs: number,
    resubmissionDelaysMs: listOf(number),
    firstPollMs: number,
    firstPollWithCallbackMs: number,
    slowAfterMs: number,
  });
}

/** Of a call that is sent at most once. A result of another form is a lost answer: its claim tells what became of it. */
const claimed = {
  deferred: fields({ message: text }),
  superseded,
  unknown,
  "under-way": fields({ message: text }),
};
const created = kinds({
  document: fields({ document }),
  named: fields({ saleId: text, message: text }),
  rejected: fields({ message: text }),
  "already-credited": fields({ message: text }),
  "number-taken": fields({ message: text }),
  superseded: fields({ intent: count }),
  deferred: fields({ message: text }),
  unknown,
  refused,
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
    finished: optional(fields({ stage: text, movements: listOf(movement) })),
    earlier: optional(fields({ sent: flag, signed: flag })),
  }),
  openCreditNote: fields({ sent: flag }),
  reserveReplacement: kinds({
    reserved: fields({
      branch: optional(text),
      lines: optional(listOf(fields({ quantity: number, unitPrice: number }))),
    }),
    refused: fields({ message: text }),
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
  awaitFirstOutcome: outcome,
  awaitBranch: nothing,

  awaitLedger: nothing,
  readMovement: kinds({ ...settledMovement, unknown }),
  readTaken: listOf(fields({ referenceId: text, itemId: text, quantity: number, unitPrice: number })),
  watchDecision: fields({ outcome: kinds({ applied, "not-applied": fields({ message: text }) }) }),
  watchMovement: kinds({ ...settledMovement, balance: fields({ evidence: object }) }),
  decideMovement: kinds({
    ...settledMovement,
    "said-applied": fields({ word: optional(word) }),
    "said-not-applied": object,
    unknown,
  }),
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
  countSync: fields({ total: number, byStatus: counts, unseen: number }),
  daysOfChangedPurchases: listOf(fields({ from: text, to: text })),
  completePurchasesSync: fields({ total: number, byStatus: counts, findings: object }),
  completeBillPaymentsSync: fields({ total: number, byStatus: counts, missing: number }),
  readBatch: knownBatch,
  settleBatch: nothing,
  decideBatch: knownBatch,
  keepRegistrations: nothing,
  reportRegistrations: fields({ counts }),

  readItems: items,
  readBranch: kinds({ branch: fields({ branch: fields({ id: text }) }), refused }),
  readDocument,
  keepDocument: readDocument,
  planRegistrations: kinds({
    planned: fields({ items: listOf(fields({ id: text })), settled: object, total: number, next: optional(text) }),
    refused,
  }),
  pullPurchases: kinds({ pulled: object, refused }),
  keepPurchasesPage: keptPage,
  reconcileDocument: kinds({ final: object, "not-final": object, differs: object, unreadable: object, refused }),
  registerItem: kinds({
    registered: fields({ item }),
    "needs-data": fields({ item, message: text }),
    converging: fields({ message: text }),
    refused,
  }),
  retryDocument: kinds({
    document: fields({ document }),
    rejected: fields({ document: optional(document), message: text }),
    converging: fields({ message: text }),
    refused,
  }),
  createSale: created,
  createCreditNote: created,
  adjustStock: kinds({
    ...claimed,
    applied,
    "said-applied": said,
    "branch-held": fields({ message: text, hold: object }),
    "not-applied": fields({ refusal: refused }),
  }),
  awaitItems: items,
  awaitDocument: readDocument,
  awaitService: nothing,

  keepBillPaymentsPage: keptPage,
  sampleBillPayments: kinds({ sample: fields({ ids: listOf(text) }), refused }),
  processSyncBatch: kinds({
    ...claimed,
    processed: fields({ message: text }),
    "said-processed": said,
    "not-processed": fields({ refusal: refused }),
  }),
  awaitAccounting: nothing,
};
