import { z } from "zod";
import type { Attention, Decision } from "../attention.ts";
import { ATTENTION_CODES, STAGES } from "../names.ts";
import {
  CLOSED_STATUSES,
  type ClosedRun,
  type ClosedStatus,
  type MessageReply,
  type SaleOutcome,
  type WorkflowState,
} from "../messages.ts";
import { type Correction, CORRECTION_STAGES } from "../correction.ts";
import type { Receipt, SaleDocument } from "../documents.ts";
import type { ServiceTrouble } from "../service-trouble.ts";
import type { StockMovement } from "../stock-movement.ts";
import { correctedSaleSchema, refundSchema, saleStartSchema } from "../schema/sale.ts";
import { RESOLVING_UPDATES, UPDATE_FORMS, type UpdateForm } from "../updates.ts";
import {
  processSyncBatchInputSchema,
  readEventsInputSchema,
  reconcileInputSchema,
  registerItemsInputSchema,
  syncBillPaymentsInputSchema,
  syncPurchasesInputSchema,
} from "../schema/job-inputs.ts";

/**
 * What a sale answers, published as JSON Schemas for callers in any language. The API's own objects
 * may have more fields than these, and so may a later version of fiscalflow.
 */

const atMs = z.number().describe("Unix milliseconds.");
const text = z.string().nullish();
const stage = z.enum(STAGES);
const code = z.enum(ATTENTION_CODES);

const receipt = z.looseObject({
  cuInvoiceNo: text,
  receiptNumber: z.number().nullish(),
  receiptLabel: text,
  scuId: text,
  scuDate: text.describe("DD/MM/YYYY."),
  scuTime: text.describe("hh:mm:ss."),
  totalReceiptCounter: text,
  signature: text,
  internalData: text,
  verificationUrl: text,
  originalCuInvoiceNo: text,
}) satisfies z.ZodType<Receipt>;

const line = z.looseObject({
  id: z.string(),
  itemId: z.string(),
  name: text,
  description: text,
  quantity: z.number().describe("Negative on a credit note."),
  unitPrice: z.number(),
  total: z.number().describe("Tax-inclusive."),
  taxableAmount: z.number(),
  taxAmount: z.number(),
  taxRate: z.number().describe("VAT rate in percent."),
  taxTypeCode: text,
});

const document = z.looseObject({
  id: z.string(),
  type: z.string().describe("sale or credit_note."),
  status: z.string().describe("The API's own word; completed alone means that the tax authority accepted it."),
  traderInvoiceNumber: z.string(),
  saleDate: text,
  paymentTypeCode: text,
  customer: z.looseObject({ name: text, pin: text, phone: text, email: text }).nullish(),
  lines: z.array(line),
  linesLeftOut: z
    .looseObject({ count: z.number() })
    .optional()
    .describe("So many lines are left out of this answer; the ledger keeps them."),
  totals: z.looseObject({ total: z.number(), taxableAmount: z.number(), taxAmount: z.number() }),
  receipt: receipt.nullish(),
  originalSaleId: text,
  error: text,
}) satisfies z.ZodType<SaleDocument>;

const report = z.looseObject({ stockIo: z.string().optional(), stockMaster: z.string().optional() });

const movement = z.looseObject({
  referenceId: z.string(),
  purpose: z.enum(["sold", "undone", "restocked"]),
  action: z.enum(["ADD", "DEDUCT"]),
  itemId: z.string(),
  quantity: z.number(),
  unitPrice: z.number(),
  state: z.enum(["planned", "sending", "applied", "unknown", "refused", "dropped"]),
  branchId: z.string().optional(),
  movementId: z.string().optional(),
  quantityOnHand: z.number().optional(),
  report: report.optional(),
  undoes: z.string().optional().describe("The movement that this one gives back."),
  sentAtMs: atMs.optional(),
  decision: z
    .looseObject({
      applied: z.boolean(),
      note: z.string(),
      by: z.string().optional(),
      atMs,
      contradicts: z
        .looseObject({ quantityOnHand: z.number(), ifApplied: z.number(), ifNot: z.number() })
        .optional()
        .describe("The item's balance, where it spoke against the answer."),
    })
    .optional()
    .describe("Set where an operator answered for an unknown outcome."),
}) satisfies z.ZodType<StockMovement>;

const attention = z.looseObject({
  code,
  subject: z.string().optional(),
  message: z.string(),
  sinceMs: atMs,
  resolvedBy: z.array(z.enum(RESOLVING_UPDATES)).describe("The updates that resolve it."),
  evidence: z.record(z.string(), z.unknown()).optional(),
}) satisfies z.ZodType<Attention>;

const decision = z.looseObject({
  update: z.enum([...RESOLVING_UPDATES, "refund", "restart"]),
  code: code.optional(),
  subject: z.string().optional(),
  answer: z.string().optional(),
  note: z.string(),
  by: z.string().optional(),
  atMs,
}) satisfies z.ZodType<Decision>;

const closed = z.looseObject({
  status: z.enum(Object.keys(CLOSED_STATUSES) as [ClosedStatus, ...ClosedStatus[]]),
  atMs,
  reason: z.string().optional(),
  by: z.string().optional(),
}) satisfies z.ZodType<ClosedRun>;

/** As it was asked for: of a later version it may have more fields. */
const refund = z.looseObject({
  ...refundSchema.shape,
  replacedBy: z
    .looseObject({ traderInvoiceNumber: z.string(), fingerprint: z.string() })
    .optional()
    .describe("In place of replaceWith, once the corrected sale is known to the ledger."),
});

const correction = z.looseObject({
  correctedBy: z.string().describe("The number of the corrected sale."),
  creditNote: z.string().describe("The number of the credit note."),
  stage: z.enum(CORRECTION_STAGES),
  heldUp: code.optional().describe("What the corrected sale needs an operator for, in its own workflow."),
  receipt: receipt.nullish().describe("Of the corrected sale, once it is signed."),
}) satisfies z.ZodType<Correction>;

const counts = z.array(
  z.looseObject({ purpose: movement.shape.purpose, state: movement.shape.state, count: z.number() }),
);

/** Answer of `outcome` and `refund`, and the result of the workflow `sale`. */
export const saleOutcomeSchema = z.looseObject({
  stage,
  sale: document.nullable(),
  receipt: receipt.nullable(),
  creditNote: document.nullish(),
  refund: refund.optional(),
  correction: correction.optional(),
  stockMovements: z.array(movement),
  inAll: z.looseObject({ stockMovements: counts.optional() }).optional(),
  attention: attention.optional().describe("What needs an operator; the most pressing one."),
  cancelRequested: z.string().optional(),
  numberTaken: z.boolean().describe("False: no create request has left, and the number is free when the run ends so."),
  closed: closed
    .optional()
    .describe("Set by the client package where the workflow ended without an outcome; never by a workflow."),
  nextWait: z.number(),
}) satisfies z.ZodType<SaleOutcome>;

const serviceTrouble = z.looseObject({
  kind: z.enum(["away", "rate-limited", "held-back", "refused", "slow"]),
  service: z.literal("accounting").optional(),
  sinceMs: atMs,
  orEarlier: z.literal(true).optional(),
}) satisfies z.ZodType<ServiceTrouble>;

/** Answer of the query `state`. */
export const saleStateSchema = z.looseObject({
  stage,
  waitingFor: z.string(),
  attentions: z.array(attention),
  document: document.nullable(),
  creditNote: document.nullish(),
  refund: refund.optional(),
  correction: correction.optional(),
  stockMovements: z.array(movement),
  decisions: z.array(decision),
  inAll: z
    .looseObject({
      stockMovements: counts.optional(),
      attentions: z.number().optional(),
      decisions: z.number().optional(),
    })
    .optional(),
  serviceTrouble: serviceTrouble.optional().describe("What is wrong with the API, as a deferred call has met it."),
  cancelRequested: z.string().optional(),
  creditNoteCancelRequested: z.string().optional(),
  callbacksReceived: z.number(),
  unreadMessages: z.number().optional().describe("Signals that could not be read, and changed nothing."),
  fingerprint: z.string().optional(),
  numberTaken: z.boolean(),
  nextWait: z.number(),
}) satisfies z.ZodType<WorkflowState>;

/** Answer of an operator's update to a sale. */
export const replySchema = z.looseObject({
  message: z.string().describe("What is true now, in words."),
  stage,
  attention: code.optional(),
}) satisfies z.ZodType<MessageReply>;

/** Inputs by workflow type, and answers. */
export const ZOD_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  "input.sale": saleStartSchema,
  "input.registerItems": registerItemsInputSchema,
  "input.syncPurchases": syncPurchasesInputSchema,
  "input.syncBillPayments": syncBillPaymentsInputSchema,
  "input.processSyncBatch": processSyncBatchInputSchema,
  "input.reconcile": reconcileInputSchema,
  "input.readEvents": readEventsInputSchema,
  "answer.outcome": saleOutcomeSchema,
  "answer.state": saleStateSchema,
  "answer.update": replySchema,
};

/** What is published, by the file's name, as JSON Schema, draft 2020-12. */
export const PUBLISHED_SCHEMAS: Readonly<Record<string, object>> = {
  ...Object.fromEntries(Object.entries(ZOD_SCHEMAS).map(([name, schema]) => [name, jsonSchemaOf(schema)])),
  ...Object.fromEntries(
    Object.entries<UpdateForm>(UPDATE_FORMS).map(([name, form]) => [`update.${name}`, jsonSchemaOfUpdate(form)]),
  ),
};

function jsonSchemaOf(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}

function jsonSchemaOfUpdate(update: UpdateForm): object {
  const { purpose, answers: _answers, properties, ...form } = update;
  const { replaceWith } = properties;
  const { $schema: _schema, ...correctedSale } = { $schema: "", ...jsonSchemaOf(correctedSaleSchema) };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { ...properties, ...(replaceWith && { replaceWith: { ...correctedSale, ...replaceWith } }) },
    ...form,
    additionalProperties: false,
    description: purpose,
  };
}
