import type { GuidedSetting } from "./guide.ts";
import { dialectOf, valueAt } from "./settings.ts";

/** What the calls showed of one setting. `wrong`: what is configured does not work, and what does was not found. */
export type Finding =
  | { kind: "found"; value: unknown; evidence: string }
  | { kind: "wrong"; evidence: string }
  | { kind: "open"; evidence: string };

/** By the setting's path. */
export type Findings = Map<string, Finding>;

/**
 * `off`: a name was found for what the configuration leaves out on purpose (`null`). `unstated`: a value was found for what nobody has stated
 * and the schema leaves open. Neither is a misfit.
 */
export type Verdict = "fits" | "differs" | "wrong" | "off" | "unstated" | "open";

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
  /** False where a setting does not fit what was found; what could not be told is no misfit. */
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
  const wanted = compared.map(
    ({ path, verdict, configured: now, found }) =>
      [path, verdict === "differs" || verdict === "unstated" ? found : now] as const,
  );
  const fallbacks = new Map(settings.map(({ path, fallback }) => [path, fallback]));
  return {
    fits: compared.every(({ verdict }) => verdict !== "differs" && verdict !== "wrong"),
    settings: compared,
    questions: settings
      .filter(({ path }) => open.has(path))
      .map(({ path, question, optional = false }) => ({ path, question, optional })),
    dialect: dialectOf(wanted.filter(([path, value]) => value !== undefined && !isSame(value, fallbacks.get(path)))),
  };
}

function compareSetting(path: string, configured: unknown, finding: Finding | undefined): ComparedSetting {
  const evidence = finding?.evidence ?? "no call shows it";
  if (finding?.kind !== "found") return { path, verdict: finding?.kind ?? "open", configured, evidence };
  const { value: found } = finding;
  return { path, verdict: verdictOf(found, configured), configured, found, evidence };
}

function verdictOf(found: unknown, configured: unknown): Verdict {
  if (isSame(found, configured)) return "fits";
  if (configured === undefined) return "unstated";
  return configured === null ? "off" : "differs";
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
