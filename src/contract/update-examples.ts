import type { Attention, Mend } from "./attention.ts";

/** An update that resolves an attention, with the JSON that it takes; what only an operator knows is to be filled in. */
export interface UpdateExample {
  update: Mend;
  input: Record<string, unknown>;
}

const NOTE = "how you know, in a few words";

/** Every update that resolves an attention, each answer that it can carry once. */
export function updateExamples({ code, subject, resolvedBy }: Attention): UpdateExample[] {
  const about = subject === undefined ? {} : { subject };
  const inputs: Readonly<Record<Mend, readonly Record<string, unknown>[]>> = {
    retry: [{ code, ...about, note: "what was corrected" }],
    cancel: [{ reason: "why" }],
    resolveStock: [true, false].map((applied) => ({ referenceId: subject, applied, note: NOTE })),
    resolveDocument: [
      { saleId: "the document's id", note: NOTE },
      { notCreated: true, note: NOTE },
    ],
    resolveBatch: [true, false].map((processed) => ({ processed, note: NOTE })),
    acknowledge: [{ code, ...about, note: NOTE }],
  };
  return resolvedBy.flatMap((update) => inputs[update].map((input) => ({ update, input })));
}
