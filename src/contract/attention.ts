import type { AttentionCode } from "./names.ts";
import { type Answer, type ResolvingUpdate, UPDATE_FORMS, type UpdateForm, type UpdateName } from "./updates.ts";

export const RESOLVED_BY: Readonly<Record<AttentionCode, readonly ResolvingUpdate[]>> = {
  "item-unknown": ["retry", "cancel"],
  "item-needs-data": ["retry", "cancel"],
  "item-rejected": ["retry", "cancel"],
  "invalid-request": ["retry", "cancel"],
  "not-found": ["retry", "cancel"],
  credentials: ["retry"],
  "document-unknown": ["resolveDocument"],
  "batch-unknown": ["resolveBatch"],
  rejected: ["retry", "cancel"],
  "already-credited": ["acknowledge"],
  "correction-incomplete": ["retry", "acknowledge"],
  "stock-unknown": ["resolveStock"],
  "stock-refused": ["retry", "acknowledge"],
  "stock-unreported": ["acknowledge"],
  "authority-slow": ["retry"],
  mismatch: ["acknowledge"],
  "unexpected-answer": ["retry", "acknowledge"],
};

export const MEANING: Readonly<Record<AttentionCode, string>> = {
  "item-unknown": "a line names no item of the catalogue, or two",
  "item-needs-data": "an item lacks data that the tax authority wants",
  "item-rejected": "the tax authority refused to register an item although nothing is missing",
  "invalid-request": "the API refused our request as malformed",
  "not-found": "a document, an item or the business is not there",
  credentials: "the API refuses the key (401) or what the key may do (403)",
  "document-unknown": "it is not known whether the document was created",
  "batch-unknown": "it is not known whether the sync batch was processed",
  rejected: "the tax authority said no, and the automatic resubmissions are used up",
  "already-credited": "somebody else's credit note reverses this sale",
  "correction-incomplete": "a sale is credited, or may be, and its corrected sale is not issued",
  "stock-unknown": "it is not known whether a stock movement was applied",
  "stock-refused": "the API refused a stock movement, it is held back, or goods have to be booked by hand",
  "stock-unreported": "a stock movement was made, but its report to the tax authority is not ok",
  "authority-slow": "the document is in flight for longer than expected",
  mismatch: "the document is not what was asked for",
  "unexpected-answer": "an answer that fits no rule",
};

const WHAT_TO_DO: Readonly<Record<AttentionCode, string>> = {
  "item-unknown": "Add or correct the item in the API's dashboard. It then continues by itself.",
  "item-needs-data": "Complete the item in the API's dashboard. It continues by itself once the item is registered.",
  "item-rejected": "Correct the item in the API's dashboard.",
  "invalid-request": "Correct the item, the customer or the dialect setting that the message names.",
  "not-found": "Check the ids that the message names.",
  credentials: "Fix the key, or what it may do. If it changes in a variable, restart the workers.",
  "document-unknown": "Look for the number in the API's dashboard.",
  "batch-unknown": "Look for the batch in the accounting service.",
  rejected: "Correct what the message names.",
  "already-credited": "Check the other credit note in the API's dashboard.",
  "correction-incomplete": "Look at both sales, and at the stock of their items.",
  "stock-unknown": "Look at the item's stock in the API's dashboard.",
  "stock-refused": "Do what the message says, or book the movement by hand.",
  "stock-unreported": "File the report in the API's dashboard.",
  "authority-slow": "Nothing needs to be done: polling goes on. A retry submits the same document again.",
  mismatch: "Compare the document with the sale. Correct it by a refund and a new sale where needed.",
  "unexpected-answer": "Look at the answer that the message quotes.",
};

export const NO_EARLIER_BALANCE =
  "No balance of the item is known from before: look for the movement itself in the API's dashboard.";

export function whatToDo({ code, evidence }: Pick<Attention, "code" | "evidence">): string {
  const isBalanceKnown = typeof evidence?.["lastQuantityOnHand"] === "number";
  return code === "stock-unknown" && !isBalanceKnown ? NO_EARLIER_BALANCE : WHAT_TO_DO[code];
}

export interface Attention {
  code: AttentionCode;
  /** What it is about, if there can be several: a movement's referenceId, an item's id. */
  subject?: string;
  message: string;
  sinceMs: number;
  resolvedBy: readonly ResolvingUpdate[];
  /** What is known about an unknown outcome, or what the API answered. */
  evidence?: Record<string, unknown>;
}

/** As its sale shows it, beside those of its own: an answer to it names the credit note, if it names nothing else. */
export function attentionOfCreditNote(number: string, attention: Attention): Attention {
  return { subject: number, ...attention, message: `Credit note ${number}: ${attention.message}` };
}

/**
 * Whether the document waits for it: what is about a stock movement never holds it back, and a slow authority is still
 * waited for.
 */
export function holdsUpDocument(
  { code, subject }: Pick<Attention, "code" | "subject">,
  movements: readonly { referenceId: string }[],
): boolean {
  if (code.startsWith("stock-") || code === "authority-slow") return false;
  return subject === undefined || !movements.some(({ referenceId }) => referenceId === subject);
}

/** An operator's decision on something, kept for good. */
export interface Decision {
  /**
   * `refund`: a restock to a branch that the operator named, of goods that are not known to have been taken. `restart`:
   * the run before had ended without an outcome.
   */
  update: ResolvingUpdate | "refund" | "restart";
  /** What it was about; absent for a cancellation, a refund and a restart. */
  code?: AttentionCode;
  subject?: string;
  answer?: string;
  /** Empty for a retry that came without one. */
  note: string;
  by?: string;
  atMs: number;
}

/**
 * An update that resolves an attention, with the JSON that it takes; what only an operator knows is to be filled in.
 */
export interface UpdateExample {
  update: ResolvingUpdate;
  /** In which case to send it: `if the movement was applied`. */
  when: string;
  input: Record<string, unknown>;
}

/** Those of an update that resolves no attention are none. */
export function answersOf(update: UpdateName): readonly Answer[] {
  const { answers = [] }: UpdateForm = UPDATE_FORMS[update];
  return answers;
}

/** Whether a text is still an example's. */
export function isUnfilled(update: UpdateName, field: string, text: unknown): text is string {
  return typeof text === "string" && answersOf(update).some(([, input]) => input[field] === text);
}

export function unfilledFields(update: UpdateName, input: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(input).flatMap(([field, text]) =>
    isUnfilled(update, field, text) ? [`${field}: expected your own text, found the example's "${text}"`] : [],
  );
}

/** @param by stands for who answers, where the sender adds no name of its own */
export function updateExamples({ code, subject, resolvedBy }: Attention, by?: string): UpdateExample[] {
  const known: Readonly<Record<string, string | undefined>> = { "{code}": code, "{subject}": subject };
  return resolvedBy.flatMap((update) =>
    answersOf(update).map(([when, input]) => {
      const filled = Object.entries({ ...input, ...(by !== undefined && { by }) })
        .map(([field, value]) => [field, typeof value === "string" && value in known ? known[value] : value] as const)
        .filter(([, value]) => value !== undefined);
      return { update, when, input: Object.fromEntries(filled) };
    }),
  );
}
