import { ComplianceConfigurationError, parseDialect } from "../compliance/index.ts";
import { type Config, loadConfig, type LoadConfigOptions } from "../config/index.ts";

/** The configuration with its dialects looked into, so that everything that is wrong is said at once. @throws ConfigError */
export function loadProcessConfig(options: Pick<LoadConfigOptions, "env" | "needs">): Config {
  return loadConfig({ ...options, dialectProblems: { compliance: complianceDialectProblems } });
}

function complianceDialectProblems(dialect: unknown): readonly string[] {
  try {
    parseDialect(dialect);
    return [];
  } catch (error) {
    if (error instanceof ComplianceConfigurationError) return error.problems;
    throw error;
  }
}
