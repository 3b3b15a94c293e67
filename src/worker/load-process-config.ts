import { AccountingConfigurationError, parseAccountingDialect } from "../accounting/index.ts";
import { ComplianceConfigurationError, parseDialect } from "../compliance/index.ts";
import { type Config, loadConfig, type LoadConfigOptions } from "../config/index.ts";

/**
 * The configuration with its dialects looked into, so that all problems are reported at once. @throws
 * ConfigError
 */
export function loadProcessConfig(options: Pick<LoadConfigOptions, "env" | "needs">): Config {
  const ofAccounting = problemsOf(parseAccountingDialect);
  // Whoever receives no webhooks needs no secret for them.
  const receives = options.needs?.includes("callbacks") === true;
  return loadConfig({
    ...options,
    dialectProblems: {
      compliance: problemsOf(parseDialect),
      accounting: (dialect, given) => {
        const problems = ofAccounting(dialect);
        return problems.length === 0 && receives ? missingSecret(dialect, given) : problems;
      },
    },
  });
}

function missingSecret(dialect: unknown, given: ReadonlySet<string>): string[] {
  const { enabled } = parseAccountingDialect(dialect).webhook;
  if (!enabled || given.has("webhookSecrets")) return [];
  return [
    "dialect.webhook.enabled: expected a webhook secret beside it (ACCOUNTING_WEBHOOK_SECRET, or webhookSecrets of the connection); without one every webhook is answered 404",
  ];
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
