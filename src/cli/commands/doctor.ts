import type { Command } from "commander";

import { CommandFailedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { findingLines } from "../doctor/finding.ts";
import { interruptible } from "../interruptible.ts";
import { counted, printNote, printResult } from "../output.ts";

export function registerDoctor(program: Command, context: CliContext): void {
  program
    .command("doctor")
    .description("Check the configuration, Temporal, the database and every key, and say how to fix each fault.")
    .option("--json", "print the findings as JSON")
    .addHelpText(
      "after",
      `
Makes one call for each connection, which counts against its request budget and changes nothing: GET /v1/businesses of
the API, GET /bill-payments of the accounting service. What a key may do beyond that, its first use shows.

Exit code:
  0  no fault. A warning (!) is a hint: sales are issued, or it cannot be told now, as while the API limits requests
  1  a fault (✗): something keeps sales from being issued or recorded, or a configured service does not work. Such are: a wrong setting; Temporal, the
     database or a service that is away or refuses the key; and, once there are sales, no worker

Example:
  fiscalflow doctor`,
    )
    .action((flags: { json?: boolean }) => runDoctor(context, flags.json === true));
}

async function runDoctor(context: CliContext, json: boolean): Promise<void> {
  const { examine } = await import("../doctor/examine.ts");
  const onFinding = json ? () => undefined : (text: string) => printResult(context, false, undefined, text);
  const { findings, apiCalls, accountingCalls } = await interruptible(
    () => examine(context, (finding) => onFinding(findingLines(finding))),
    context.signal,
  );
  const faults = findings.filter(({ level }) => level === "fault").length;
  const warnings = findings.filter(({ level }) => level === "warning").length;
  if (json) printResult(context, true, { ok: faults === 0, apiCalls, accountingCalls, checks: findings }, "");
  const others = accountingCalls === 0 ? "" : ` and ${accountingCalls} of the accounting service`;
  printNote(
    context,
    `${counted(faults, "fault")}, ${counted(warnings, "warning")}; ${counted(apiCalls, "call")} of the API${others} made.`,
  );
  if (faults > 0) throw new CommandFailedError("");
}
