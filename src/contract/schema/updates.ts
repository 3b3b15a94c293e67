import { z } from "zod";

import { ATTENTION_CODES, type ResolvingUpdate } from "../attention.ts";
import type {
  AcknowledgeRequest,
  CancelRequest,
  OutcomeRequest,
  ResolveDocumentRequest,
  ResolveStockRequest,
  RetryRequest,
} from "../messages.ts";
import { UPDATES } from "../names.ts";
import type { ResolveBatchRequest } from "../sync-batch.ts";
import { describeProblems } from "./describe-problems.ts";

/**
 * What the updates take, as their workflows check it: these are published as JSON Schemas, for callers in any language.
 */

/** A text that is not empty. */
const nonEmptyText = z
  .string()
  .refine((text) => text.trim() !== "", { error: "expected a text" })
  .meta({ pattern: "\\S" });

const note = nonEmptyText.describe("How the operator knows, in a few words; it is kept with the decision.");
const by = z.string().optional().describe("Who answers for it.");
const code = z.enum(ATTENTION_CODES);
const subject = z.string().optional().describe("As the attention has it, where several carry the code.");

export const outcomeRequestSchema = z.strictObject({
  waitSeconds: z.number().min(0).max(60).optional().describe("Default: 20."),
  fingerprint: z.string().optional().describe("Refused where it is not the fingerprint of the sale's content."),
}) satisfies z.ZodType<OutcomeRequest>;

export const retryRequestSchema = z.strictObject({
  code: code.optional(),
  subject,
  note: z.string().optional(),
  by,
}) satisfies z.ZodType<RetryRequest>;

export const cancelRequestSchema = z.strictObject({ reason: nonEmptyText, by }) satisfies z.ZodType<CancelRequest>;

export const resolveStockRequestSchema = z.strictObject({
  referenceId: z.string().describe("The attention's subject."),
  applied: z.boolean(),
  note,
  by,
}) satisfies z.ZodType<ResolveStockRequest>;

export const resolveDocumentRequestSchema = z
  .strictObject({ saleId: nonEmptyText.optional(), notCreated: z.literal(true).optional(), note, by })
  .refine(
    (request): request is ResolveDocumentRequest =>
      (request.saleId === undefined) !== (request.notCreated === undefined),
    {
      error: ({ input }) =>
        `expected either saleId or notCreated, found ${(input as { saleId?: unknown }).saleId === undefined ? "neither" : "both"}`,
    },
  )
  .meta({
    oneOf: [{ required: ["saleId"] }, { required: ["notCreated"] }],
  }) satisfies z.ZodType<ResolveDocumentRequest>;

export const resolveBatchRequestSchema = z.strictObject({
  processed: z.boolean(),
  note,
  by,
}) satisfies z.ZodType<ResolveBatchRequest>;

/** What a restart gives to the new run, which ignores what is not of this form. */
export const restartRequestSchema = z.strictObject({ note, by: z.string() });

export const acknowledgeRequestSchema = z.strictObject({
  code,
  subject,
  note,
  by,
}) satisfies z.ZodType<AcknowledgeRequest>;

const OF_OPERATORS: Readonly<Record<string, z.ZodType>> = {
  [UPDATES.retry]: retryRequestSchema,
  [UPDATES.cancel]: cancelRequestSchema,
  [UPDATES.resolveStock]: resolveStockRequestSchema,
  [UPDATES.resolveDocument]: resolveDocumentRequestSchema,
  [UPDATES.resolveBatch]: resolveBatchRequestSchema,
  [UPDATES.acknowledge]: acknowledgeRequestSchema,
};

/** An operator's answer by its update's name, as a program passes it. */
export const answerSchema = z.object({
  update: z.enum(Object.keys(OF_OPERATORS) as ResolvingUpdate[], {
    error: ({ input }) =>
      input === UPDATES.refund
        ? 'expected an operator\'s answer, found "refund": call `refund` in place of `answer`'
        : undefined,
  }),
  input: z.looseObject({}),
});

/** What is wrong with the form of an operator's answer, a line for each field. */
export function problemsOfAnswer(update: string, request: unknown): string[] {
  const error = OF_OPERATORS[update]?.safeParse(request).error;
  return error ? describeProblems(error, request) : [];
}
