import { fieldsOf } from "../../dialect/find-in-answers.ts";
import type { Verdict } from "./find-name.ts";
import type { Answer } from "./prober.ts";

/** What was sent to be accepted, and what became of it. */
export interface Write {
  what: "sale" | "credit note" | "stock movement";
  /** Its number, or the movement's reference. */
  number: string;
  /** `unknown`: it may have been made; look in the dashboard. It is never sent again. */
  outcome: "made" | "refused" | "unknown" | "not sent";
  /** The document's or movement's own id. */
  id?: string;
  detail?: string;
}

export const isRefused = (answer: Answer, status: number): boolean =>
  answer.kind === "refused" && answer.status === status;
/** Of a request for an item that does not exist: 404 says that its body was understood. */
export const verdictOf = (answer: Answer): Verdict => {
  if (isRefused(answer, 404)) return "taken";
  return isRefused(answer, 400) ? "refused" : "other";
};

/** A request that nothing can be made of was not refused with 400 or 404: nothing more is tried. */
class SearchEndedError extends Error {
  override readonly name = "SearchEndedError";
  readonly answer: Answer;

  constructor(answer: Answer) {
    super("the search has ended");
    this.answer = answer;
  }
}

export async function untilEnded(what: Write["what"], number: string, search: () => Promise<Write>): Promise<Write> {
  try {
    return await search();
  } catch (error) {
    if (!(error instanceof SearchEndedError)) throw error;
    const { answer } = error;
    const detail = "a request for an item that does not exist was not refused with 400 or 404";
    if (answer.kind === "refused" && answer.document === undefined)
      return { what, number, outcome: "not sent", detail: `${detail}: HTTP ${answer.status}` };
    const id =
      answer.kind === "ok" ? documentOf(answer)["id"] : answer.kind === "refused" ? answer.document?.id : undefined;
    return { what, number, outcome: "unknown", detail, ...(typeof id === "string" && { id }) };
  }
}

/** Only for what cannot be made: whatever is not refused as expected ends the search. */
export function refusedOnly(answer: Answer): Answer {
  if (verdictOf(answer) === "other") throw new SearchEndedError(answer);
  return answer;
}

export function documentOf(answer: Answer): Readonly<Record<string, unknown>> {
  return answer.kind === "ok" ? fieldsOf(fieldsOf(fieldsOf(answer.body)["data"])["sale"]) : {};
}

/** The fields that a refusal names, where it names some that were sent. */
export function named(words: readonly string[], body: Readonly<Record<string, unknown>>): string {
  const fields = words.filter((word) => Object.hasOwn(body, word));
  return fields.length === 0 ? "" : `, which names ${fields.join(", ")}`;
}
