import { closestMatch } from "leven";

/** One thing to correct. */
export interface ConfigProblem {
  /** The environment variable, or the path in the JSON file (`compliance.shop.apiKey`). */
  path: string;
  /** What was expected and what was found; never a secret. */
  message: string;
}

/**
 * The configuration cannot be used. Carries every problem that was found, so that one start is enough to see them all.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "CONFIG_INVALID";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(describe(problems));
    this.problems = problems;
  }
}

const MAX_SHOWN_LENGTH = 60;
/**
 * Beginnings of keys of both services, of Temporal's (a JWT) and of private keys; and what carries a password in a URL.
 */
const LOOKS_SECRET = /cmp_sk_|sk_(development|production)_|\bcs_|whsec_|eyJ[\w-]{10}|-----BEGIN|:\/\/[^/]*@/;

/** How a value that was found is quoted in a problem. A key in the wrong place is not quoted. */
export function showFound(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value) ?? typeof value;
  if (LOOKS_SECRET.test(text)) return "what looks like a key or a password (not shown)";
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}

/** @param noun what the known names are: "key", "field" */
export function unknownName(noun: string, name: string, known: readonly string[]): string {
  const meant = nearMiss(name, known);
  const hint = meant === undefined ? `known here: ${known.join(", ")}` : `did you mean "${meant}"?`;
  return `has an unknown ${noun} ${showFound(name)}; ${hint}`;
}

/** The known name that the caller most likely meant. */
export function nearMiss(name: string, known: readonly string[]): string | undefined {
  return closestMatch(name, known, { maxDistance: 2 });
}

/** Why a file cannot be read: the system's code (`ENOENT`), since a message may quote more than is wanted. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}

function describe(problems: readonly ConfigProblem[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const list = problems.map(({ path, message }) => `  - ${path}: ${message}`);
  return [`The configuration has ${count}; nothing was started.`, ...list].join("\n");
}
