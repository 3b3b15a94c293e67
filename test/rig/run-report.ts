import { writeFileSync } from "node:fs";

import type { Reporter, SerializedError, TestModule } from "vitest/node";

const SHOWN = 10;
const STACK_LINES = 20;

/**
 * Prints, at the end of a run, the suites that took longest. Where the run has a report (`TEST_REPORT`), writes beside it
 * what no test caught: such an error fails the run, and vitest's report of tests does not name it.
 */
export default class RunReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const report = process.env["TEST_REPORT"];
    if (report !== undefined && unhandledErrors.length > 0) {
      writeFileSync(report.replace(/(\.json)?$/, "-uncaught.txt"), unhandledErrors.map(textOf).join("\n"));
    }
    const timed = modules.map((one) => ({
      name: `${one.project.name} ${one.relativeModuleId}`,
      ms: one.diagnostic().duration,
    }));
    const slowest = timed.toSorted((one, other) => other.ms - one.ms).slice(0, SHOWN);
    if (timed.length <= SHOWN) return;
    const lines = slowest.map(({ name, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${name}`);
    process.stdout.write(`\nThe slowest suites:\n${lines.join("\n")}\n`);
  }
}

function textOf(error: SerializedError): string {
  const during = [error["VITEST_TEST_PATH"], error["VITEST_TEST_NAME"]].filter(Boolean).join(": ");
  const stack = (error.stack ?? `${error.name ?? "Error"}: ${error.message}`).split("\n").slice(0, STACK_LINES);
  return [`UNCAUGHT, while this ran: ${during || "no test"}`, ...stack].join("\n  ");
}
