/**
 * What one process can tell of the others on its application, without asking them: by how much more goes than it sends.
 */
export interface Company {
  /** Of this window: own answers with a count, and the count before the first of them. */
  answers: number;
  usedBefore: number;
  /** Requests that went for one of ours, in the windows before. */
  factor: number;
}

/** Own answers that the windows before weigh as much as. */
const WEIGHT_OF_BEFORE = 4;

/**
 * By when a call arrives, the others have sent theirs, and some a second one. With 1, and refusals counted as answers,
 * 10 % were refused with eight processes.
 */
const STALE = 1.5;

/** Of a window, however many others there seem to be: else a count that is absurd would stop this process for good. */
const MOST_UNUSED = 0.2;

export const NO_COMPANY: Company = { answers: 0, usedBefore: 0, factor: 1 };

/**
 * After an answer that passed.
 * @param fromItsStart this process was there when the window began: what went before its first answer went beside it
 */
export function seenWith(company: Company, used: number, fromItsStart: boolean): Company {
  if (company.answers > 0) return { ...company, answers: company.answers + 1 };
  return { ...company, answers: 1, usedBefore: fromItsStart ? 0 : Math.max(0, used - 1) };
}

export function companyFactor({ answers, usedBefore, factor }: Company, used: number): number {
  if (answers === 0) return factor;
  const gone = Math.max(answers, used - usedBefore);
  return (gone + WEIGHT_OF_BEFORE * factor) / (answers + WEIGHT_OF_BEFORE);
}

/**
 * Calls that may be under way at once in this process, by headers alone: half of what is left, shared by all, so that
 * the number halves as the window empties; each stage lasts as long as its slowest answer. The last few, as many as
 * there are others, stay unused: whoever took one could not know of the others who do the same (facts, "The budget,
 * prototyped").
 */
export function mostAlone(left: number, factor: number, limit: number): number {
  const unused = Math.min(STALE * factor, MOST_UNUSED * limit);
  if (left < 1 || (factor > 1.5 && left < unused)) return 0;
  return Math.max(1, Math.floor(left / (2 * factor)));
}
