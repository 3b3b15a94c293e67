import { type Config, ConfigError, loadConfig, loadTemporalConnection } from "../../config/index.ts";
import { plainLine } from "../../contract/plain-text.ts";
import { type CliContext, CommandFailedError, interruptible } from "../context.ts";
import { counted, printNote, printResult } from "../output.ts";
import { checkLedger } from "./check-ledger.ts";
import { checkServices } from "./check-services.ts";
import { checkTemporal } from "./check-temporal.ts";
import { fault, type Finding, type Level, ok, warning } from "./finding.ts";

type Add = (...found: Finding[]) => void;

const MARKS: Readonly<Record<Level, string>> = { ok: "✓", warning: "!", fault: "✗" };

/** Every check, in order; each finding is printed as soon as it is known. */
export async function runDoctor(context: CliContext, json = false): Promise<void> {
  const findings: Finding[] = [];
  const add: Add = (...found) => {
    findings.push(...found);
    if (!json) for (const one of found) printResult(context, false, undefined, findingLines(one));
  };
  await interruptible(() => examine(context, add), context.signal);
  const [faults, warnings] = (["fault", "warning"] as const).map(
    (level) => findings.filter((one) => one.level === level).length,
  ) as [number, number];
  if (json) printResult(context, true, { ok: faults === 0, checks: findings }, "");
  printNote(context, `${counted(faults, "fault")}, ${counted(warnings, "warning")}.`);
  if (faults > 0) throw new CommandFailedError("");
}

function findingLines({ check, level, message, todo }: Finding): string {
  const lines = [`${MARKS[level]} ${check}: ${message}`, ...(todo === undefined ? [] : [`  → ${todo}`])];
  return lines.map(plainLine).join("\n");
}

async function examine(context: CliContext, add: Add): Promise<void> {
  const { env } = context;
  const config = loaded(add, () => loadConfig({ env, needs: ["compliance"] }));
  const temporal = loaded(add, () => loadTemporalConnection({ env }));
  if (config) add(...configurationFindings(config));
  const seen = temporal && (await checkTemporal(context, temporal, config, add));
  if (!config) return;
  add(...(await checkLedger(config, seen)));
  await checkServices(config, add);
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

function configurationFindings({ compliance, accounting, callbacks, unknownVariables }: Config): Finding[] {
  const named = (all: readonly { name: string; environment: string }[]): string =>
    `${counted(all.length, "connection")}: ${all.map((one) => `${one.name} (${one.environment})`).join(", ")}`;
  const findings = [ok("configuration", named(compliance))];
  if (unknownVariables.length > 0) {
    const message = `variables that fiscalflow does not know: ${unknownVariables.join(", ")}`;
    findings.push(warning("configuration", message, "remove or correct them, unless they are another program's"));
  }
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
