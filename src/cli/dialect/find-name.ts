import type { Finding } from "../../dialect/compare.ts";
import type { Answer } from "./prober.ts";

/** What a request under some name came to. `other`: nothing that says anything of names. */
export type Verdict = "taken" | "refused" | "other";

export interface NameSearch {
  /** The configured name first. */
  candidates: readonly string[];
  send: (name: string, value: unknown) => Promise<Answer>;
  verdictOf: (answer: Answer) => Verdict;
  /** Values that the right name takes, in the order of preference; empty where there is none. */
  valid: readonly unknown[];
  /** A value that the right name should refuse. */
  invalid: unknown;
  /** The document says that it does: a name under which it is taken is wrong. */
  documented?: boolean;
  /** Whether the answer shows the effect of the value: then nothing else is needed. Undefined: unclear. */
  shows?: (answer: Answer) => boolean | undefined;
  /** Whether unknown names are refused: then a name that is taken is known. */
  strict: boolean;
}

export interface FoundName {
  name: string;
  /** Which of the valid values was taken; undefined where none was tried. */
  value: unknown;
  evidence: string;
}

/**
 * The first name whose effect shows. Under a wrong name a strict service refuses every value, and a lenient one takes
 * every value: only the right name takes the valid one and refuses the other. `refuted` are the names that are
 * certainly wrong.
 */
export async function findName(search: NameSearch): Promise<{ found?: FoundName; refuted: readonly string[] }> {
  const refuted: string[] = [];
  for (const name of search.candidates) {
    const tried = await tryName(search, name);
    if (tried === "ended") break;
    if (tried === "wrong") refuted.push(name);
    else if (tried !== "unclear") return { found: { name, ...tried }, refuted };
  }
  return { refuted };
}

type Tried = Omit<FoundName, "name"> | "wrong" | "unclear" | "ended";

async function tryName(search: NameSearch, name: string): Promise<Tried> {
  const { valid, invalid, shows, send, verdictOf, strict, documented } = search;
  let value: unknown;
  let isTaken = false;
  for (const candidate of valid) {
    const answer = await send(name, candidate);
    const verdict = verdictOf(answer);
    if (verdict === "other") return "ended";
    if (verdict === "refused") continue;
    const effect = shows?.(answer);
    if (effect === true) return { value: candidate, evidence: "its effect shows in the answer" };
    if (effect === false) return "wrong";
    [isTaken, value] = [true, candidate];
    break;
  }
  if (valid.length > 0 && !isTaken) return "wrong";
  if (strict) return isTaken ? { value, evidence: "it is taken, and a name that nobody knows is refused" } : "unclear";
  const answer = await send(name, invalid);
  const verdict = verdictOf(answer);
  if (verdict === "other") return "ended";
  if (verdict === "refused") return { value, evidence: "a wrong value is refused" };
  if (shows?.(answer) === true) return { value, evidence: "its effect shows in the answer" };
  return documented === true ? "wrong" : "unclear";
}

/** As a finding: where no name was found, whether the configured one was tried and does not work. */
export function findingOf(
  configured: unknown,
  { found, refuted }: { found?: FoundName; refuted: readonly string[] },
): Finding {
  if (found !== undefined) return { kind: "found", value: found.name, evidence: found.evidence };
  const tried = `${refuted.length} names were tried`;
  if (typeof configured === "string" && refuted.includes(configured))
    return { kind: "wrong", evidence: `it has no effect, or is refused; ${tried}` };
  return { kind: "open", evidence: "none of the usual names shows an effect" };
}
