import type { Attention, ResolvingUpdate } from "./attention.ts";

/**
 * An update that resolves an attention, with the JSON that it takes; what only an operator knows is to be filled in.
 */
export interface UpdateExample {
  update: ResolvingUpdate;
  /** In which case to send it: `if the movement was applied`. */
  when: string;
  input: Record<string, unknown>;
}

type Answer = readonly [when: string, input: Record<string, unknown>];

const NOTE = "how you know, in a few words";
const CORRECTED = "what was corrected";
const REASON = "why";
const DOCUMENT_ID = "the document's id";

/** What stands in the examples for what only an operator knows, field by field. */
const TO_BE_FILLED_IN: Readonly<Record<string, readonly string[]>> = {
  note: [NOTE, CORRECTED],
  reason: [REASON],
  saleId: [DOCUMENT_ID],
};

/** What is wrong with an answer that still has an example's texts, which nobody has said: a line for each field. */
export function unfilledFields(input: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(TO_BE_FILLED_IN).flatMap(([field, texts]) => {
    const text = texts.find((one) => one === input[field]);
    return text === undefined ? [] : [`${field}: expected your own text, found the example's "${text}"`];
  });
}

/**
 * Every update that resolves an attention, each answer that it can carry once.
 * @param by stands for who answers, where the sender adds no name of its own
 */
export function updateExamples({ code, subject, resolvedBy }: Attention, by?: string): UpdateExample[] {
  const about = { code, ...(subject !== undefined && { subject }) };
  const answers: Readonly<Record<ResolvingUpdate, readonly Answer[]>> = {
    retry: [["to try again", { ...about, note: CORRECTED }]],
    cancel: [["to give it up", { reason: REASON }]],
    resolveStock: [
      ["if the movement was applied", { referenceId: subject, applied: true, note: NOTE }],
      ["if it was not applied", { referenceId: subject, applied: false, note: NOTE }],
    ],
    resolveDocument: [
      ["if you found the document, with its id", { saleId: DOCUMENT_ID, note: NOTE }],
      ["if it was not created", { notCreated: true, note: NOTE }],
    ],
    resolveBatch: [
      ["if the batch was processed", { processed: true, note: NOTE }],
      ["if it was not processed: it is then sent again", { processed: false, note: NOTE }],
    ],
    acknowledge: [["to accept it as it is", { ...about, note: NOTE }]],
  };
  const named = { ...(by !== undefined && { by }) };
  return resolvedBy.flatMap((update) =>
    answers[update].map(([when, input]) => ({ update, when, input: { ...input, ...named } })),
  );
}
