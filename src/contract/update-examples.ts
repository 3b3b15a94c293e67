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

/**
 * Every update that resolves an attention, each answer that it can carry once.
 * @param by stands for who answers, where the sender adds no name of its own
 */
export function updateExamples({ code, subject, resolvedBy }: Attention, by?: string): UpdateExample[] {
  const about = { code, ...(subject !== undefined && { subject }) };
  const answers: Readonly<Record<ResolvingUpdate, readonly Answer[]>> = {
    retry: [["to try again", { ...about, note: "what was corrected" }]],
    cancel: [["to give it up", { reason: "why" }]],
    resolveStock: [
      ["if the movement was applied", { referenceId: subject, applied: true, note: NOTE }],
      ["if it was not applied", { referenceId: subject, applied: false, note: NOTE }],
    ],
    resolveDocument: [
      ["if you found the document, with its id", { saleId: "the document's id", note: NOTE }],
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
