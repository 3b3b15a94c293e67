import { ATTENTION_CODES } from "./names.ts";
import { REFUND_REASONS, type RefundReason } from "./codes.ts";

/**
 * Every update, declared once: what it is for, its JSON Schema and, if it resolves an attention, the answers that it
 * can carry. From this come the types of its callers and handlers, its check in the workflow, where zod is not at hand,
 * its published JSON Schema, what Temporal's UI shows of it, and the options of its command.
 */

export interface FieldForm {
  /** What is within an object is checked by an activity. */
  readonly type: "string" | "number" | "boolean" | "object";
  readonly description?: string;
  readonly const?: true;
  readonly enum?: readonly string[];
  readonly format?: "date";
  readonly pattern?: string;
  /** In code points, as JSON Schema has it. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface MessageForm {
  readonly properties: Readonly<Record<string, FieldForm>>;
  readonly required?: readonly string[];
  /** Exactly one of these fields is there. */
  readonly oneOf?: readonly { readonly required: readonly [string] }[];
  /** A field that is there only while others have these values, or are not there. */
  readonly dependentSchemas?: Readonly<Record<string, { required?: readonly string[]; properties: Only }>>;
}

type Only = Readonly<Record<string, { readonly const: true } | false>>;

export interface UpdateForm extends MessageForm {
  readonly purpose: string;
  readonly answers?: readonly Answer[];
}

export type Answer = readonly [when: string, input: Readonly<Record<string, string | boolean>>];

const REASONS = Object.keys(REFUND_REASONS) as [RefundReason, ...RefundReason[]];
/** For JSON Schema: a text without control characters. */
export const PRINTABLE = "^[^\\x00-\\x1F\\x7F-\\x9F]*$";
/** Characters of the number of a document that we issue ourselves (Fiscal Compliance API, POST /v1/sales). */
export const LONGEST_OWN_NUMBER = 50;

const waitSeconds = { type: "number", minimum: 0, maximum: 60 } as const;
const nonEmptyText = { type: "string", pattern: "\\S" } as const;
const note = { ...nonEmptyText, description: "How you know, in a few words; it is kept with the decision." } as const;
const by = { type: "string", description: "Who answers for it." } as const;
const code = { type: "string", enum: ATTENTION_CODES, description: "The attention's code." } as const;
const subject = { type: "string", description: "The attention's subject, where several carry the code." } as const;

/** What stands in an answer for what the attention says. */
const SUBJECT = "{subject}";
const ABOUT = { code: "{code}", subject: SUBJECT } as const;
/** What stands in an answer for what only an operator knows: to be written anew. */
const HOW_YOU_KNOW = "how you know";

export const UPDATE_FORMS = {
  outcome: {
    purpose: "The outcome, waited for a while (20 seconds unless told).",
    properties: {
      waitSeconds: { ...waitSeconds, description: "Default: 20." },
      fingerprint: { type: "string", description: "Refused where it is not the fingerprint of the sale's content." },
    },
  },
  /** `schema/sale.ts` says what is within `replaceWith`. */
  refund: {
    purpose: "Reverse the sale in full.",
    properties: {
      reason: { type: "string", enum: REASONS },
      traderInvoiceNumber: {
        type: "string",
        minLength: 1,
        maxLength: LONGEST_OWN_NUMBER,
        pattern: PRINTABLE,
        description: "The credit note's own number.",
      },
      returnDate: {
        type: "string",
        format: "date",
        pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        description: "Default: the Africa/Nairobi date of the request.",
      },
      restock: {
        type: "boolean",
        description:
          "Return to stock what the sale is known to have taken, each line to the branch that it was taken from. Default: false.",
      },
      branch: {
        type: "string",
        minLength: 1,
        maxLength: 200,
        pattern: PRINTABLE,
        description:
          "Only with restock, for a sale that took nothing from stock: the branch (its id or authorityBhfId) that has the goods.",
      },
      replaceWith: {
        type: "object",
        description:
          "The corrected sale, under a number of its own: it is checked before the sale is credited, and issued afterwards. What the credited sale took goes back to stock, so that restock is left out.",
      },
      waitSeconds: {
        ...waitSeconds,
        description:
          "How long to wait for the credit note, and for the word that its number is another sale's. Default: 20. 0 answers once the refund is accepted.",
      },
    },
    required: ["reason", "traderInvoiceNumber"],
    dependentSchemas: {
      branch: { required: ["restock"], properties: { restock: { const: true } } },
      replaceWith: { properties: { restock: false } },
    },
  },
  retry: {
    purpose: "Try again what needed an operator, after you have corrected it.",
    properties: {
      code,
      subject,
      note: { type: "string", description: "What you corrected; it is kept with the decision." },
      by,
    },
    answers: [["to try again", { ...ABOUT, note: "what was corrected" }]],
  },
  cancel: {
    purpose:
      "Give up a sale, or its refund, as long as its document is not signed. While the document is in flight this is kept as a wish; a completed sale is reversed by a refund.",
    properties: { reason: { ...nonEmptyText, description: "Why; it is kept with the decision." }, by },
    required: ["reason"],
    answers: [["to give it up", { reason: "why" }]],
  },
  resolveStock: {
    purpose: "Say whether a stock movement of unknown outcome was applied.",
    properties: {
      referenceId: { ...nonEmptyText, description: "The movement's referenceId, which is the attention's subject." },
      applied: { type: "boolean" },
      note,
      by,
    },
    required: ["referenceId", "applied", "note"],
    answers: [
      [
        "if the movement was applied: it is not sent again",
        { referenceId: SUBJECT, applied: true, note: HOW_YOU_KNOW },
      ],
      ["if it was not applied: it is then sent again", { referenceId: SUBJECT, applied: false, note: HOW_YOU_KNOW }],
    ],
  },
  resolveDocument: {
    purpose: "Say what became of a document whose creation was not answered.",
    properties: {
      saleId: { ...nonEmptyText, description: "The document's id." },
      notCreated: { type: "boolean", const: true },
      note,
      by,
    },
    required: ["note"],
    oneOf: [{ required: ["saleId"] }, { required: ["notCreated"] }],
    answers: [
      ["if you found the document, with its id", { saleId: "id of the document", note: HOW_YOU_KNOW }],
      ["if it was not created: it is then created", { notCreated: true, note: HOW_YOU_KNOW }],
    ],
  },
  resolveBatch: {
    purpose: "Say whether a sync batch of unknown outcome was processed.",
    properties: { processed: { type: "boolean" }, note, by },
    required: ["processed", "note"],
    answers: [
      ["if the batch was processed: it is not sent again", { processed: true, note: HOW_YOU_KNOW }],
      ["if it was not processed: it is then sent again", { processed: false, note: HOW_YOU_KNOW }],
    ],
  },
  acknowledge: {
    purpose: "Accept for good what cannot be corrected.",
    properties: { code, subject, note, by },
    required: ["code", "note"],
    answers: [["to accept it as it is", { ...ABOUT, note: HOW_YOU_KNOW }]],
  },
} as const satisfies Readonly<Record<string, UpdateForm>>;

type Forms = typeof UPDATE_FORMS;

export type UpdateName = keyof Forms;

export type ResolvingUpdate = {
  [Name in UpdateName]: Forms[Name] extends { answers: readonly unknown[] } ? Name : never;
}[UpdateName];

export const RESOLVING_UPDATES = Object.entries<UpdateForm>(UPDATE_FORMS).flatMap(([name, { answers }]) =>
  answers ? [name as ResolvingUpdate] : [],
);

export const UPDATES = Object.fromEntries(Object.keys(UPDATE_FORMS).map((name) => [name, name])) as {
  readonly [Name in UpdateName]: Name;
};

type ValueOf<Field> = Field extends { const: infer Only }
  ? Only
  : Field extends { enum: readonly (infer One)[] }
    ? One
    : Field extends { type: "string" }
      ? string
      : Field extends { type: "number" }
        ? number
        : boolean;

type Given<Name extends UpdateName> = Forms[Name] extends { required: readonly (infer Field)[] } ? Field : never;

/** What an update takes, by its form: of `oneOf` each field may be left out. */
type FieldsOf<Name extends UpdateName, Fields = Forms[Name]["properties"]> = {
  [Field in keyof Fields as Field extends Given<Name> ? Field : never]: ValueOf<Fields[Field]>;
} & { [Field in keyof Fields as Field extends Given<Name> ? never : Field]?: ValueOf<Fields[Field]> | undefined };

export type OutcomeRequest = FieldsOf<"outcome">;
export type RetryRequest = FieldsOf<"retry">;
export type CancelRequest = FieldsOf<"cancel">;
export type ResolveStockRequest = FieldsOf<"resolveStock">;
export type ResolveDocumentRequest = FieldsOf<"resolveDocument"> &
  ({ saleId: string; notCreated?: undefined } | { saleId?: undefined; notCreated: true });
export type ResolveBatchRequest = FieldsOf<"resolveBatch">;
export type AcknowledgeRequest = FieldsOf<"acknowledge">;
