import { basename } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

import { LOOK_PAUSE_MS, NAMED_SUITES, PATIENCE_MS } from "./test/rig/patience.ts";

/** A test waits several times, one after the other. */
const TEST_MS = 3 * PATIENCE_MS;
const SLOW_TEST_MS = 2 * TEST_MS;

/** Slow by their nature: processes that are killed, an installation, a browser. CI runs them with each change. */
const SLOW = "**/*.slow.test.ts";
/**
 * One thing tried in many ways, days that pass, how much can be carried, or how a release is made. What breaks them in
 * everyday work breaks a quicker suite too, so they run at night, each with the machine for itself.
 */
const NIGHT = "**/*.night.test.ts";

const SLOW_SUITES = {
  globalSetup: ["test/rig/global-setup.ts"],
  expect: { poll: { timeout: PATIENCE_MS, interval: LOOK_PAUSE_MS } },
  testTimeout: SLOW_TEST_MS,
  hookTimeout: SLOW_TEST_MS,
};

/** A suite that is named on the command line runs, however slow it is. */
const LEFT_OUT =
  NAMED_SUITES.length > 0 || process.argv.some((argument) => /\.(slow|night)/.test(argument)) ? [] : [SLOW, NIGHT];

/** Mostly waiting, or much longer than others: what began last would run alone. */
const LONGEST = [
  "storm.faults.ts",
  "stored-histories.slow.test.ts",
  "resubmission.test.ts",
  "doubt.test.ts",
  "silent-server.test.ts",
];
class LongestFirst extends BaseSequencer {
  override async sort(suites: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification): boolean => LONGEST.includes(basename(moduleId));
    return (await super.sort(suites)).toSorted((a, b) => Number(isLongest(b)) - Number(isLongest(a)));
  }
}

export default defineConfig({
  test: {
    // Suites run the bundled workflows, and commands as processes: what they test is not what they import.
    watchTriggerPatterns: [
      {
        pattern: /^(?!.*\/dist\/).*\/(src|workflows|activities)\/.*(?<!\.test)\.ts$/,
        testsToRun: () => (NAMED_SUITES.length > 0 ? NAMED_SUITES : undefined),
      },
    ],
    sequence: { sequencer: LongestFirst },
    // What one run has transformed, the next one need not: the slow suites of CI follow the everyday ones.
    experimental: { fsModuleCache: true },
    // Many suites wait for servers: with as many workers as cores, half of a core idles. Each worker imports the product
    // anew, though, which takes twice as long in all with six as with four.
    maxWorkers: 4,
    reporters: [...(process.env["CI"] ? ["default", "json"] : ["default"]), "./test/rig/run-report.ts"],
    outputFile: { json: process.env["TEST_REPORT"] ?? "test-results/vitest.json" },
    projects: [
      {
        test: {
          name: "unit",
          include: ["{src,activities,workflows,scripts,bench}/**/*.test.ts"],
          exclude: LEFT_OUT,
          globalSetup: ["src/ledger/test-support/home-of-run.ts"],
          // What they import takes longer than what they do, and none of them changes a module that another one uses.
          isolate: false,
          expect: { poll: { timeout: PATIENCE_MS } },
          testTimeout: TEST_MS,
          hookTimeout: TEST_MS,
        },
      },
      {
        test: {
          name: "system",
          include: ["test/**/*.test.ts"],
          exclude: [...LEFT_OUT, "test/languages/**"],
          isolate: false,
          globalSetup: ["test/rig/global-setup.ts"],
          expect: { poll: { timeout: PATIENCE_MS, interval: LOOK_PAUSE_MS } },
          testTimeout: NAMED_SUITES.length > 0 ? SLOW_TEST_MS : TEST_MS,
          hookTimeout: NAMED_SUITES.length > 0 ? SLOW_TEST_MS : TEST_MS,
        },
      },
      {
        test: {
          name: "slow",
          include: [SLOW],
          isolate: false,
          ...SLOW_SUITES,
          // Some want a core for themselves, and others wait for servers: with a third, no core idles.
          sequence: { groupOrder: 1 },
          maxWorkers: 3,
          // A suite is worker, client and replay of its own histories in one process, and one of these has 25 MB: beside
          // other suites it has taken 4 GB, which is where Node gives up.
          execArgv: ["--max-old-space-size=8192"],
        },
      },
      {
        test: {
          name: "night",
          include: [NIGHT],
          isolate: false,
          ...SLOW_SUITES,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: "languages",
          include: ["test/languages/*.test.ts"],
          ...SLOW_SUITES,
        },
      },
      {
        test: {
          name: "rehearsal",
          include: ["test/rehearsal/*.rehearsal.ts"],
          ...SLOW_SUITES,
          // Beside the storm, as the last of the fault suites, with which it shares two workers.
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: "faults",
          include: ["test/faults/**/*.faults.ts"],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          // Each brings up servers of its own: with a third, calls fail for want of a processor. For the figures each
          // wants the machine for itself.
          fileParallelism: process.env["FAULTS_FULL"] !== "1",
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
