import { AccountingConfigurationError, parseAccountingDialect } from "../accounting/index.ts";
import { ComplianceConfigurationError, parseDialect } from "../compliance/index.ts";
import { type Config, loadConfig, type LoadConfigOptions } from "../config/index.ts";

/** The configuration with its dialects looked into, so that everything that is wrong is said at once. @throws ConfigError */
export function loadProcessConfig(options: Pick<LoadConfigOptions, "env" | "needs">): Config {
  return loadConfig({
    ...options,
    dialectProblems: { compliance: problemsOf(parseDialect), accounting: problemsOf(parseAccountingDialect) },
  });
}

function problemsOf(parse: (dialect: unknown) => unknown): (dialect: unknown) => readonly string[] {
  return (dialect) => {
    try {
      parse(dialect);
      return [];
    } catch (error) {
      const known = error instanceof ComplianceConfigurationError || error instanceof AccountingConfigurationError;
      if (known) return error.problems;
      throw error;
    }
  };
}
