import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";

import { callCli } from "../../src/cli/test-support/call-cli.ts";
import { triggerFault } from "../../src/dev/simulator/triggers.ts";
import { type ServiceTrouble, troubleInWords } from "../../src/contract/index.ts";
import type { PendingCall } from "../../src/starter/index.ts";
import { commandEnv } from "../rig/command-env.ts";
import { startRigInOrder } from "../rig/api-away.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

interface Shown {
  serviceTrouble?: ServiceTrouble;
  pendingCalls?: PendingCall[];
}

const SINCE = /since \d{4}-\d\d-\d\d \d\d:\d\d EAT/.source;

/** What a command about sales prints. */
function saidBy(rig: () => Rig): (...argv: string[]) => Promise<string> {
  return async (...argv) => {
    const { exitCode, stdout, stderr } = await callCli(["sale", ...argv], { env: commandEnv(rig()) });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    return stdout;
  };
}

/** Which of the sales was tried by nobody yet, and says so. */
async function firstQueued(said: ReturnType<typeof saidBy>, invoices: readonly string[]): Promise<string | undefined> {
  for (const invoice of invoices)
    if (/Calls +createSale: queued since/.test(await said("show", invoice))) return invoice;
  return undefined;
}

describeWithTemporal("trouble with the API is shown with its start", () => {
  let rig: Rig;
  beforeAll(async () => {
    // From now on the workers know since when the API is not in order.
    rig = await startRigInOrder({ timings: { callTimeoutMs: 20_000 } });
  });
  let endTrouble = (): void => undefined;
  afterEach(() => endTrouble());
  afterAll(() => rig?.close());

  const { start, handleOf, result } = salesOf(() => rig);

  const said = saidBy(() => rig);
  const shown = async (invoice: string): Promise<Shown> => JSON.parse(await said("show", invoice, "--json")) as Shown;
  /** What Temporal's UI shows as the last failure of the run's pending activities. */
  async function lastFailures(invoice: string): Promise<string[]> {
    const { raw } = await handleOf(invoice).describe();
    return (raw.pendingActivities ?? []).flatMap(({ lastFailure }) => lastFailure?.message ?? []);
  }

  test("while it is away: in the sale, once above the list, and as the last failure of the call", async () => {
    const beforeMs = Date.now();
    endTrouble = rig.simulator.inject(triggerFault("away", {}));
    await Promise.all([start("AWAY-1"), start("AWAY-2")]);
    await expect
      .poll(() => said("show", "AWAY-1"))
      .toMatch(new RegExp(`API +The API has been away ${SINCE}, as far as calls show\n`));
    const { serviceTrouble, pendingCalls } = await shown("AWAY-1");
    expect(serviceTrouble).toEqual({ kind: "away", sinceMs: expect.any(Number) as number });
    expect(serviceTrouble?.sinceMs).toBeGreaterThanOrEqual(beforeMs);
    expect(pendingCalls).toMatchObject([{ call: "createSale", message: expect.stringContaining("HTTP 503") }]);
    const words = serviceTrouble && troubleInWords(serviceTrouble);
    await expect
      .poll(() => lastFailures("AWAY-1"))
      .toEqual([expect.stringMatching(/: attempt \d+, the next after \d+ s\. createSale: HTTP 503/)]);
    expect((await lastFailures("AWAY-1"))[0]).toContain(words);
    await expect.poll(() => said("list")).toMatch(/: 2 sales wait \(connection default\)\n\nNUMBER/);
    const list = await said("list");
    expect(list.split("\n").filter((line) => line.includes("The API has been away"))).toEqual([
      expect.stringMatching(new RegExp(`^The API has been away ${SINCE}, last seen .* EAT: 2 sales wait`)),
    ]);
    const asJson = await callCli(["sale", "list", "--json"], { env: commandEnv(rig) });
    expect(asJson.stderr).toMatch(/^The API has been away since .*\n$/);
    expect(JSON.parse(asJson.stdout)).toHaveLength(3);
    endTrouble();
    for (const invoice of ["AWAY-1", "AWAY-2"]) expect(await result(invoice)).toMatchObject({ stage: "completed" });
    expect(await said("show", "AWAY-1")).not.toContain("The API");
  });

  test("while it is away over a restart of all workers: since when it was first, also of what begins after it", async () => {
    endTrouble = rig.simulator.inject(triggerFault("away", {}));
    await start("RESTARTED-1");
    const attemptOf = async (): Promise<number> => {
      const { raw } = await handleOf("RESTARTED-1").describe();
      const [call] = raw.pendingActivities ?? [];
      return call?.lastFailure ? (call.attempt ?? 0) : 0;
    };
    await expect.poll(attemptOf).toBeGreaterThan(0);
    const { serviceTrouble } = await shown("RESTARTED-1");
    expect(serviceTrouble).toEqual({ kind: "away", sinceMs: expect.any(Number) as number });
    await rig.stopWorkers();
    const before = await attemptOf();
    await rig.startWorkers();
    // The first of these may be the attempt that was under way.
    await expect.poll(attemptOf).toBeGreaterThan(before + 1);
    expect(await shown("RESTARTED-1")).toMatchObject({ serviceTrouble });
    expect((await lastFailures("RESTARTED-1"))[0]).toContain(serviceTrouble && troubleInWords(serviceTrouble));
    await start("RESTARTED-2");
    await expect.poll(() => shown("RESTARTED-2")).toMatchObject({ serviceTrouble });
    endTrouble();
    for (const invoice of ["RESTARTED-1", "RESTARTED-2"]) await result(invoice);
  });

  test("while it does not answer of a rejected sale's items", async () => {
    endTrouble = rig.simulator.inject({ operation: "listItems", when: "before", kind: "status", status: 503 });
    rig.simulator.setAuthority("REJECTED-1", [{ do: "reject", reason: "no" }]);
    await start("REJECTED-1");
    await rig.stateWhen("REJECTED-1", ({ stage }) => stage === "rejected");
    await expect.poll(() => said("list")).toMatch(new RegExp(`^The API has been away ${SINCE}.*: 1 sale waits`));
    endTrouble();
    await handleOf("REJECTED-1").terminate();
  });

  test("while it is slow: the call that goes on", async () => {
    // Longer than the trigger's own delay: a busy machine needs seconds to look.
    endTrouble = rig.simulator.inject({ ...triggerFault("slow", {}), delayMs: 8_000 });
    await start("SLOW-1");
    await expect
      .poll(() => said("show", "SLOW-1"))
      .toMatch(/API +The API is slow, or a worker is gone: a call has been/);
    await expect.poll(() => said("list")).toMatch(/^The API is slow.*: 1 sale waits/);
    endTrouble();
    await result("SLOW-1");
  });

  test("while it refuses the key: since the first refusal", async () => {
    endTrouble = rig.simulator.inject(triggerFault("credentials", {}));
    await start("REFUSED-1");
    const { attentions } = await rig.stateWhen("REFUSED-1", (state) => state.attentions.length > 0);
    const [attention] = attentions;
    const refused = { kind: "refused", sinceMs: attention?.sinceMs };
    await expect.poll(() => shown("REFUSED-1")).toMatchObject({ serviceTrouble: refused });
    expect((await lastFailures("REFUSED-1"))[0]).toMatch(
      /^Still waiting; .* The API has refused the key since .*: attempt/,
    );
    await expect.poll(() => said("list")).toMatch(new RegExp(`^The API has refused the key ${SINCE}.*: 1 sale waits`));
    endTrouble();
    await rig.starter.retry({ invoice: "REFUSED-1" });
    await result("REFUSED-1");
  });

  // Last: the budget of the key stays closed as long.
  test("while it is rate limiting: in Current Details for a movement that was deferred, and for those behind it", async () => {
    const limited = { when: "before", kind: "rate-limit", retryAfterSeconds: 600, times: 1 } as const;
    rig.simulator.inject({ ...limited, operation: "adjustStock" });
    await start("LIMITED-1");
    const { serviceTrouble } = await rig.stateWhen("LIMITED-1", (state) => state.serviceTrouble !== undefined);
    expect(serviceTrouble).toMatchObject({ kind: "rate-limited" });
    const words = serviceTrouble ? troubleInWords(serviceTrouble) : "";
    expect(await details("LIMITED-1")).toContain(
      `**${words}**, as far as calls show. What was deferred is tried again by itself.`,
    );
    expect(await said("show", "LIMITED-1")).toMatch(new RegExp(`API +${words}, as far as calls show\n`));
    // More than the worker has asked for by then: those behind them are tried by nobody while the budget is closed, so
    // they say what they wait for. Which of them have met the trouble before is chance.
    const others = Array.from({ length: 20 }, (_, index) => `LIMITED-${index + 2}`);
    for (const invoice of others) await start(invoice);
    // The workers of the other suites would take them.
    onTestFinished(async () => {
      await Promise.all(["LIMITED-1", ...others].map((invoice) => handleOf(invoice).terminate()));
    });
    await expect.poll(() => firstQueued(said, others)).toBeDefined();
  });

  function details(invoice: string): Promise<string> {
    return handleOf(invoice)
      .query<{ currentDetails?: string }>("__temporal_workflow_metadata")
      .then(({ currentDetails = "" }) => currentDetails);
  }
});

describeWithTemporal("more sales than the API takes in a minute", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false, simulator: { limitPerWindow: 6 } });
  });
  afterAll(() => rig?.close());

  test("are shown as waiting for the request budget, and since when", async () => {
    const { start } = salesOf(() => rig);
    const said = saidBy(() => rig);
    // The first two windows may pass within a moment: then documents are still left to be created, not only movements.
    const sales = await Promise.all(Array.from({ length: 20 }, (_, index) => start(`BUDGET-${index + 1}`)));
    await expect
      .poll(() => said("list", "--limit", "200"))
      .toMatch(new RegExp(`^The request budget has held calls back ${SINCE}, last seen .*: \\d+ sales? waits? `, "m"));
    // Those that are done by then are closed.
    await Promise.allSettled(sales.map((sale) => sale.terminate()));
  });
});

describeWithTemporal("a background job that waits for a service", () => {
  let rig: Rig;
  beforeAll(async () => {
    const scenario = { accounting: { generatedBillPayments: 30 } };
    rig = await startRig({ accounting: true, receiver: false, simulator: { scenario } });
    // From now on the workers know since when a service is away.
    for (const group of ["bill-payments", "purchases"]) {
      const { exitCode, stderr } = await cli(group, "sync", "--wait");
      if (exitCode !== 0) throw new Error(stderr);
    }
  });
  afterAll(() => rig?.close());

  const cli = (...argv: string[]) =>
    callCli(argv, {
      env: {
        ...commandEnv(rig),
        ACCOUNTING_BASE_URL: rig.simulator.accounting.url,
        ACCOUNTING_API_KEY: "sk_development_simulator",
      },
    });
  const awayAccounting = (): (() => void) => {
    const away = { operation: "listBillPayments", when: "before", kind: "status", status: 503 } as const;
    rig.simulator.inject(away);
    return () => rig.simulator.clearFaults();
  };

  test.each([
    ["the API", "The API", "purchases", () => rig.simulator.inject(triggerFault("away", {}))],
    ["the accounting service", "The accounting service", "bill-payments", awayAccounting],
  ] as const)("says since when %s is away: above the list, as it is waited for, and in doctor", async (...which) => {
    const [, service, group, begin] = which;
    const end = begin();
    expect(await cli(group, "sync")).toMatchObject({ exitCode: 0 });
    const line = `${service} has been away ${SINCE}`;
    await expect
      .poll(async () => (await cli("jobs", "list")).stdout)
      .toMatch(new RegExp(`^${line}, last seen .* EAT: 1 job waits \\(connection default\\)\n\nJOB`));
    const waited = await cli(group, "sync", "--wait", "1");
    expect(waited.stdout).toMatch(new RegExp(`^It goes on by itself: .*\\. ${line}, as far as calls show\n`));
    const { stdout } = await cli("doctor");
    expect(stdout).toMatch(new RegExp(`^! workers' calls: ${line}, .*: 1 job waits`, "m"));
    end();
    expect(await cli(group, "sync", "--wait")).toMatchObject({ exitCode: 0 });
    expect((await cli("jobs", "list")).stdout).toMatch(/^JOB/);
    const found = (await cli("doctor")).stdout;
    expect(found).toContain("✓ workers' calls: none that waits has met trouble with a service");
    expect(found).toMatch(/^✓ connection default, service: reachable; it answered in \d+ ms$/m);
    expect(found).toMatch(/^✓ accounting default, service: reachable; it answered in \d+ ms$/m);
  });
});
