import { type Config, ConfigError, loadTemporalConnection, type TemporalConnection } from "../../config/index.ts";
import { loadProcessConfig } from "../../worker/load-process-config.ts";
import { counted } from "../output.ts";
import { fault, type Finding, ok, warning } from "./finding.ts";

export interface CheckedConfiguration {
  findings: Finding[];
  /** Absent where it cannot be used. */
  config?: Config;
  temporal?: TemporalConnection;
}

export function checkConfiguration(env: NodeJS.ProcessEnv): CheckedConfiguration {
  const findings: Finding[] = [];
  const config = attempt(findings, () => loadProcessConfig({ env, needs: ["compliance"] }));
  const temporal = attempt(findings, () => loadTemporalConnection({ env }));
  if (config) findings.push(...describeConfig(config));
  return { findings, ...(config && { config }), ...(temporal && { temporal }) };
}

function attempt<Result>(findings: Finding[], load: () => Result): Result | undefined {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const todo = "correct it; every setting: https://github.com/fiscalflow/fiscalflow/blob/main/docs/configuration.md";
    findings.push(...error.problems.map(({ path, message }) => fault("configuration", `${path}: ${message}`, todo)));
    return undefined;
  }
}

function describeConfig({ compliance, accounting, callbacks }: Config): Finding[] {
  const names = compliance.map(({ name, environment }) => `${name} (${environment})`).join(", ");
  const findings = [ok("configuration", `${counted(compliance.length, "connection")}: ${names}`)];
  if (accounting.length > 0) {
    const those = accounting.map(({ name, environment }) => `${name} (${environment})`).join(", ");
    findings.push(ok("accounting", `${counted(accounting.length, "connection")} of the accounting service: ${those}`));
  }
  if (callbacks) {
    const host = new URL(callbacks.publicUrl).host;
    findings.push(ok("callbacks", `delivered to ${host}; whether the API reaches it cannot be probed from here`));
  } else {
    const todo = "set CALLBACK_PUBLIC_URL and CALLBACK_SECRETS, and run `fiscalflow callbacks`, for faster results";
    findings.push(
      warning(
        "callbacks",
        "none are configured here: where no worker has them either, polling alone finishes every sale",
        todo,
      ),
    );
  }
  return findings;
}
