import { z } from "zod";

import { ATTENTION_CODES } from "../attention.ts";
import type { Answer } from "../message-form.ts";
import { RESOLVING_UPDATES, type ResolvingUpdate } from "../names.ts";
import { problemsOf, SAYS_FOUND } from "./parse-input.ts";
import { refundUpdateSchema, waitSeconds } from "./sale.ts";

/**
 * Every update, declared once: what it is for, what it takes and, where it resolves an attention, the answers that it
 * can carry. From this are made the types of its callers and handlers, its JSON Schema, the form by which the sandbox
 * of the workflows checks it (`../update-forms.ts`), what Temporal's UI shows of it, and the options of the commands.
 */

/** A text that is not empty. */
const nonEmptyText = z
  .string()
  .refine((text) => text.trim() !== "", { error: "expected a text" })
  .meta({ pattern: "\\S" });

const note = nonEmptyText.describe("How you know, in a few words; it is kept with the decision.");
const by = z.string().optional().describe("Who answers for it.");
const code = z.enum(ATTENTION_CODES).describe("The attention's code.");
const subject = z.string().optional().describe("The attention's subject, where several carry the code.");

/** What stands in an answer for what the attention says. */
const SUBJECT = "{subject}";
const ABOUT = { code: "{code}", subject: SUBJECT };
/** What stands in an answer for what only an operator knows: to be written anew. */
const HOW_YOU_KNOW = "how you know";

export interface Declaration {
  readonly takes: z.ZodType;
  readonly answers?: readonly Answer[];
}

type SaysWhatBecame = { saleId: string; notCreated?: undefined } | { saleId?: undefined; notCreated: true };

function saysWhatBecame<Fields extends { saleId?: string | undefined; notCreated?: true | undefined }>(
  fields: Fields,
): fields is Fields & SaysWhatBecame {
  return (fields.saleId === undefined) !== (fields.notCreated === undefined);
}

export const UPDATE_DECLARATIONS = {
  outcome: {
    takes: z
      .strictObject({
        waitSeconds: waitSeconds.describe("Default: 20."),
        fingerprint: z.string().optional().describe("Refused where it is not the fingerprint of the sale's content."),
      })
      .describe("The outcome, waited for a while (20 seconds unless told)."),
  },
  refund: { takes: refundUpdateSchema },
  retry: {
    takes: z
      .strictObject({
        code: code.optional(),
        subject,
        note: z.string().optional().describe("What you corrected; it is kept with the decision."),
        by,
      })
      .describe("Try again what needed an operator, after you have corrected it."),
    answers: [["to try again", { ...ABOUT, note: "what was corrected" }]],
  },
  cancel: {
    takes: z
      .strictObject({ reason: nonEmptyText.describe("Why; it is kept with the decision."), by })
      .describe(
        "Give up a sale, or its refund, as long as its document is not signed. While the document is in flight this is kept as a wish; a completed sale is reversed by a refund.",
      ),
    answers: [["to give it up", { reason: "why" }]],
  },
  resolveStock: {
    takes: z
      .strictObject({
        referenceId: nonEmptyText.describe("The movement's referenceId, which is the attention's subject."),
        applied: z.boolean(),
        note,
        by,
      })
      .describe("Say whether a stock movement of unknown outcome was applied."),
    answers: [
      [
        "if the movement was applied: it is not sent again",
        { referenceId: SUBJECT, applied: true, note: HOW_YOU_KNOW },
      ],
      ["if it was not applied: it is then sent again", { referenceId: SUBJECT, applied: false, note: HOW_YOU_KNOW }],
    ],
  },
  resolveDocument: {
    takes: z
      .strictObject({
        saleId: nonEmptyText.optional().describe("The document's id."),
        notCreated: z.literal(true).optional(),
        note,
        by,
      })
      .refine(saysWhatBecame, {
        ...SAYS_FOUND,
        error: ({ input }) =>
          `expected either saleId or notCreated, found ${(input as { saleId?: unknown }).saleId === undefined ? "neither" : "both"}`,
      })
      .meta({
        description: "Say what became of a document whose creation was not answered.",
        oneOf: [{ required: ["saleId"] }, { required: ["notCreated"] }],
      }),
    answers: [
      ["if you found the document, with its id", { saleId: "id of the document", note: HOW_YOU_KNOW }],
      ["if it was not created: it is then created", { notCreated: true, note: HOW_YOU_KNOW }],
    ],
  },
  resolveBatch: {
    takes: z
      .strictObject({ processed: z.boolean(), note, by })
      .describe("Say whether a sync batch of unknown outcome was processed."),
    answers: [
      ["if the batch was processed: it is not sent again", { processed: true, note: HOW_YOU_KNOW }],
      ["if it was not processed: it is then sent again", { processed: false, note: HOW_YOU_KNOW }],
    ],
  },
  acknowledge: {
    takes: z.strictObject({ code, subject, note, by }).describe("Accept for good what cannot be corrected."),
    answers: [["to accept it as it is", { ...ABOUT, note: HOW_YOU_KNOW }]],
  },
} as const satisfies Record<string, Declaration>;

/** What each update takes, by its name. */
export type UpdateRequests = {
  [Name in keyof typeof UPDATE_DECLARATIONS]: z.infer<(typeof UPDATE_DECLARATIONS)[Name]["takes"]>;
};

/** What a restart gives to the new run, which ignores what is not of this form. */
export const restartRequestSchema = z.strictObject({ note, by: z.string() });

/** The updates that resolve an attention. */
export const resolvingUpdate = z.enum(RESOLVING_UPDATES, {
  error: ({ input }) =>
    input === "refund" ? "expected an operator's answer (for a refund call `refund` in place of `answer`)" : undefined,
});

/** An operator's answer by its update's name, as a program passes it. */
export const answerSchema = z.object({ update: resolvingUpdate, input: z.looseObject({}) });

/** What is wrong with the form of an operator's answer, a line for each field. */
export function problemsOfAnswer(update: ResolvingUpdate, request: unknown): string[] {
  return problemsOf(UPDATE_DECLARATIONS[update].takes, request);
}
