import type { Reporter, TestModule } from "vitest/node";

const SHOWN = 10;

/** Prints, at the end of a run, the suites that took longest. */
export default class SlowestSuites implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
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
