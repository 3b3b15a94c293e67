import type { Attention } from "./attention.ts";
import type { Answer, UpdateForm } from "./message-form.ts";
import type { ResolvingUpdate } from "./names.ts";
import { UPDATE_FORMS } from "./update-forms.ts";

/**
 * An update that resolves an attention, with the JSON that it takes; what only an operator knows is to be filled in.
 */
export interface UpdateExample {
  update: ResolvingUpdate;
  /** In which case to send it: `if the movement was applied`. */
  when: string;
  input: Record<string, unknown>;
}

export const RESOLVING_UPDATES = Object.entries<UpdateForm>(UPDATE_FORMS).flatMap(([name, { answers }]) =>
  answers ? [name as ResolvingUpdate] : [],
);

/** The answers that an update can carry, with `{code}` and `{subject}` for what the attention says. */
export function answersOf(update: ResolvingUpdate): readonly Answer[] {
  return UPDATE_FORMS[update].answers;
}

/** Whether a text is the one of an example, which nobody has said. */
export function isUnfilled(update: ResolvingUpdate, field: string, text: unknown): text is string {
  return typeof text === "string" && answersOf(update).some(([, input]) => input[field] === text);
}

/** What is wrong with an answer that still has an example's texts: a line for each field. */
export function unfilledFields(update: ResolvingUpdate, input: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(input).flatMap(([field, text]) =>
    isUnfilled(update, field, text) ? [`${field}: expected your own text, found the example's "${text}"`] : [],
  );
}

/**
 * Every update that resolves an attention, each answer that it can carry once.
 * @param by stands for who answers, where the sender adds no name of its own
 */
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
