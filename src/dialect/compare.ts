import type { GuidedSetting } from "./guide.ts";
import { dialectOf, valueAt } from "./settings.ts";

/** What the calls showed of one setting. `wrong`: what is configured does not work, and what does was not found. */
export type Finding =
  | { kind: "found"; value: unknown; evidence: string }
  | { kind: "wrong"; evidence: string }
  | { kind: "open"; evidence: string };

/** By the setting's path. */
export type Findings = Map<string, Finding>;

/** `off`: a name was found for what the configuration leaves out on purpose (`null`), which is no misfit. */
export type Verdict = "fits" | "differs" | "wrong" | "off" | "open";

export interface ComparedSetting {
  path: string;
  verdict: Verdict;
  configured: unknown;
  /** Where something was found. */
  found?: unknown;
  /** What showed it, or why nothing did. */
  evidence: string;
}

export interface Question {
  path: string;
  question: string;
  /** The product works without an answer. */
  optional: boolean;
}

export interface Comparison {
  /** False where a setting does not fit what was found; an unclear one is no misfit. */
  fits: boolean;
  settings: ComparedSetting[];
  /** For the provider: whatever no call showed. */
  questions: Question[];
  /** What to configure: only what differs from the defaults. */
  dialect: Record<string, unknown>;
}

/** Holds what was found against the configured dialect. Pure. */
export function compareDialect(
  settings: readonly GuidedSetting[],
  configured: unknown,
  findings: ReadonlyMap<string, Finding>,
): Comparison {
  const compared = settings.map(({ path }) => compareSetting(path, valueAt(configured, path), findings.get(path)));
  const open = new Set(
    compared.flatMap(({ path, verdict }) => (verdict === "open" || verdict === "wrong" ? [path] : [])),
  );
  const byPath = new Map(compared.map((one) => [one.path, one]));
  const wanted = settings.flatMap(({ path, fallback, isStated }) => {
    const { verdict, configured: now, found } = byPath.get(path) ?? { verdict: "open", configured: fallback };
    const value = verdict === "differs" ? found : now;
    const isShown = verdict === "fits" || verdict === "differs";
    return isSame(value, fallback) && !(isStated && isShown) ? [] : [[path, value] as const];
  });
  return {
    fits: compared.every(({ verdict }) => verdict !== "differs" && verdict !== "wrong"),
    settings: compared,
    questions: settings
      .filter(({ path }) => open.has(path))
      .map(({ path, question, optional = false }) => ({ path, question, optional })),
    dialect: dialectOf(wanted),
  };
}

function compareSetting(path: string, configured: unknown, finding: Finding | undefined): ComparedSetting {
  const evidence = finding?.evidence ?? "no call shows it";
  if (finding?.kind !== "found") return { path, verdict: finding?.kind ?? "open", configured, evidence };
  const { value: found } = finding;
  const verdict = isSame(found, configured) ? "fits" : configured === null ? "off" : "differs";
  return { path, verdict, configured, found, evidence };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
