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
  /** A value that the right name refuses. */
  invalid: unknown;
  /** Whether a request with a valid value shows its effect: then nothing else is needed. Undefined: it cannot be told. */
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
 * The first name whose effect shows. Under a wrong name a strict service refuses every value, and a lenient one takes every value: only the
 * right name takes the valid one and refuses the other.
 */
export async function findName(search: NameSearch): Promise<{ found?: FoundName; refuted: readonly string[] }> {
  const refuted: string[] = [];
  for (const name of search.candidates) {
    const found = await tryName(search, name);
    if (found === "unclear") return { refuted };
    if (found !== "wrong") return { found: { name, ...found }, refuted };
    refuted.push(name);
  }
  return { refuted };
}

async function tryName(search: NameSearch, name: string): Promise<Omit<FoundName, "name"> | "wrong" | "unclear"> {
  const { valid, invalid, shows, send, verdictOf, strict } = search;
  let taken: { value: unknown } | undefined;
  for (const value of valid) {
    const answer = await send(name, value);
    const verdict = verdictOf(answer);
    if (verdict === "other") return "unclear";
    if (verdict === "refused") continue;
    const effect = shows?.(answer);
    if (effect === true) return { value, evidence: "its effect shows in the answer" };
    if (effect === false) return "wrong";
    taken = { value };
    break;
  }
  if (valid.length > 0 && taken === undefined) return "wrong";
  if (strict) {
    const evidence = "it is taken, and a name that nobody knows is refused";
    return taken === undefined ? "unclear" : { ...taken, evidence };
  }
  const verdict = verdictOf(await send(name, invalid));
  if (verdict === "other") return "unclear";
  if (verdict === "taken") return "wrong";
  return { value: taken?.value, evidence: "a wrong value is refused" };
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
  return { kind: "open", evidence: "no call shows it" };
}
