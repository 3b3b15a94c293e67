import { defineConfig } from "vitest/config";

import { LOOK_PAUSE_MS, NAMED_SUITES, PATIENCE_MS } from "./test/rig/patience.ts";

/** A test waits several times, one after the other. */
const TEST_MS = 3 * PATIENCE_MS;
const SLOW_TEST_MS = 2 * TEST_MS;

/**
 * Slow by their nature: many rows, many sales, days that pass, outages, many restarts and kills, many processes, many
 * servers, a pool of connections before the database, ten thousand calls, all histories a second time, an installation,
 * a browser. And suites that try one thing
 * in many ways: runs that were closed by whatever hand, goods that are returned wherever they came from, trouble of a
 * service in every view, callers of another namespace, a correction at each of its steps, a credit note's number that
 * another sale has, an answer that names another branch, the sale's commands, its client beside outages, its claims
 * beside other runs, the bounds of a run, a callback and a key that fail, a ledger that is away, a record beside a call
 * that waits for its window, an answer that is given twice, what an operator does by hand to activities and messages, texts and page formats of every kind. What breaks them in
 * everyday work breaks a quicker suite too.
 */
const SLOW = [
  "test/{browser,demo,scale,time}/**/*.test.ts",
  "test/e2e/{correct-killed,long-jobs,no-dialect,outage,random-inputs,many-movements,many-movements-in-trouble}.test.ts",
  "test/e2e/{closed-by-batch,correct,correct-ledger-away,correct-sale-gone,correct-troubled,credit-note-number,from-ledger,nexus,other-branch,reset-refunds,reset-runs}.test.ts",
  "test/e2e/{closed-runs,restarted-refunds,restarted-runs,restock,service-trouble}.test.ts",
  "test/e2e/{bounds,callback-faults,claims,client,ledger-away,odd-rows,record-queued,refused-key,stock-asked-again}.test.ts",
  "test/e2e/{activities-by-hand,touched-movements,unreadable-messages}.test.ts",
  "test/accounting/bill-payments-sync.test.ts",
  "test/replay/stages.test.ts",
  "test/worker/{drain,query-ahead-of-its-task,update-after-an-idle-task}.test.ts",
  "test/cli/{random-processes,sale-commands,worker-process}.test.ts",
  "test/examples/{examples,install}.test.ts",
  "src/cli/random-calls.test.ts",
  "src/contract/any-text.test.ts",
  "src/receipt/page-formats.test.ts",
  "src/servers/{no-orphans,shared-server,start-dev-server}.test.ts",
  "src/ledger/pgbouncer.test.ts",
];

/** A suite that is named on the command line runs, however slow it is. */
const LEFT_OUT = NAMED_SUITES.length > 0 ? [] : SLOW;

export default defineConfig({
  test: {
    // Suites run the bundled workflows, and commands as processes: what they test is not what they import.
    watchTriggerPatterns: [
      {
        pattern: /^(?!.*\/dist\/).*\/(src|workflows|activities)\/.*(?<!\.test)\.ts$/,
        testsToRun: () => (NAMED_SUITES.length > 0 ? NAMED_SUITES : undefined),
      },
    ],
    // Most suites wait for servers, not for the processor: with as many workers as cores, half of a core idles.
    maxWorkers: 6,
    reporters: [...(process.env["CI"] ? ["default", "json"] : ["default"]), "./test/rig/slowest-suites.ts"],
    outputFile: { json: "test-results/vitest.json" },
    projects: [
      {
        test: {
          name: "unit",
          include: ["{src,activities,workflows,scripts,bench}/**/*.test.ts"],
          exclude: SLOW,
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
          include: SLOW,
          isolate: false,
          globalSetup: ["test/rig/global-setup.ts"],
          expect: { poll: { timeout: PATIENCE_MS, interval: LOOK_PAUSE_MS } },
          testTimeout: SLOW_TEST_MS,
          hookTimeout: SLOW_TEST_MS,
          // Some want a core for themselves, and others wait for servers: with a third, no core idles.
          sequence: { groupOrder: 1 },
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: "languages",
          include: ["test/languages/*.test.ts"],
          globalSetup: ["test/rig/global-setup.ts"],
          expect: { poll: { timeout: PATIENCE_MS, interval: LOOK_PAUSE_MS } },
          testTimeout: SLOW_TEST_MS,
          hookTimeout: SLOW_TEST_MS,
        },
      },
      {
        test: {
          name: "faults",
          include: ["test/faults/**/*.faults.ts"],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          // Each brings up servers of its own and wants the machine for itself.
          fileParallelism: false,
        },
      },
    ],
  },
});
