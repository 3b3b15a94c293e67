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

function describe(problems: readonly ConfigProblem[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const list = problems.map(({ path, message }) => `  - ${path}: ${message}`);
  return [`The configuration has ${count}; nothing was started.`, ...list].join("\n");
}
