import { type Config, ConfigError, loadTemporalConnection } from "../../config/index.ts";
import { loadProcessConfig } from "../../worker/process.ts";
import type { CliContext } from "../context.ts";
import { counted } from "../output.ts";
import { checkLedger } from "./check-ledger.ts";
import { checkServices } from "./check-services.ts";
import { checkTemporal } from "./check-temporal.ts";
import { fault, type Finding, ok, warning } from "./finding.ts";

export interface Examination {
  findings: Finding[];
  /** Calls of the compliance API that were made. */
  apiCalls: number;
  /** Calls of the accounting service that were made. */
  accountingCalls: number;
}

type Add = (...found: Finding[]) => void;

/** Every check, in order; each finding is printed as soon as it is known. */
export async function examine(context: CliContext, onFinding: (finding: Finding) => void): Promise<Examination> {
  const findings: Finding[] = [];
  const add: Add = (...found) => {
    findings.push(...found);
    for (const finding of found) onFinding(finding);
  };
  const { env } = context;
  const config = loaded(add, () => loadProcessConfig({ env, needs: ["compliance"] }));
  const temporal = loaded(add, () => loadTemporalConnection({ env }));
  if (config) add(...configurationFindings(config));
  if (temporal) await checkTemporal(context, temporal, config, add);
  if (!config) return { findings, apiCalls: 0, accountingCalls: 0 };
  add(...(await checkLedger(config)));
  await checkServices(config, add);
  return { findings, apiCalls: config.compliance.length, accountingCalls: config.accounting.length };
}

function loaded<Result>(add: Add, load: () => Result): Result | undefined {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const todo = "correct it; every setting: https://github.com/fiscalflow/fiscalflow/blob/main/docs/configuration.md";
    add(...error.problems.map(({ path, message }) => fault("configuration", `${path}: ${message}`, todo)));
    return undefined;
  }
}

function configurationFindings({ compliance, accounting, callbacks }: Config): Finding[] {
  const named = (all: readonly { name: string; environment: string }[]): string =>
    `${counted(all.length, "connection")}: ${all.map((one) => `${one.name} (${one.environment})`).join(", ")}`;
  const findings = [ok("configuration", named(compliance))];
  if (accounting.length > 0) findings.push(ok("accounting", named(accounting)));
  if (callbacks) {
    const { host } = new URL(callbacks.publicUrl);
    findings.push(ok("callbacks", `delivered to ${host}; whether the API reaches it cannot be probed from here`));
  } else {
    const none = "none are configured here: where no worker has them either, polling alone finishes every sale";
    const todo = "set CALLBACK_PUBLIC_URL and CALLBACK_SECRETS, and run `fiscalflow callbacks`, for faster results";
    findings.push(warning("callbacks", none, todo));
  }
  return findings;
}
