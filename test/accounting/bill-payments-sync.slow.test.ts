import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import {
  type JobState,
  MAIN_TASK_QUEUE,
  SIGNALS,
  STATE_QUERY,
  type SyncBillPaymentsInput,
  type SyncBillPaymentsOutcome,
  syncBillPaymentsWorkflowId,
  UPDATES,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { differences, ledgersBooks, simulatorsBooks, withLedger } from "./books.ts";

const PAYMENTS = 450;
const workflowId = syncBillPaymentsWorkflowId("default");

describeWithTemporal("the synchronisation of bill payments", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({
      accounting: true,
      receiver: false,
      simulator: { scenario: { accounting: { generatedBillPayments: PAYMENTS } } },
    });
  });
  afterAll(() => rig.close());
  beforeEach(() => {
    rig.simulator.clearFaults();
    rig.simulator.accounting.resetCalls();
  });

  const start = (input: SyncBillPaymentsInput = {}) =>
    rig.client.workflow.start(WORKFLOW_TYPES.syncBillPayments, {
      taskQueue: MAIN_TASK_QUEUE,
      workflowId,
      args: [input],
    });
  const sync = async (input: SyncBillPaymentsInput = {}): Promise<SyncBillPaymentsOutcome> =>
    (await start(input)).result();
  const state = () => rig.client.workflow.getHandle(workflowId).query<JobState<SyncBillPaymentsOutcome>>(STATE_QUERY);
  const unlike = async () => differences(simulatorsBooks(rig.simulator), await ledgersBooks(rig.config));
  const pages = () => rig.simulator.accounting.calls("listBillPayments").length;

  test("reads everything the first time, without a row in the history", async () => {
    const outcome = await sync();
    expect(outcome).toMatchObject({
      kind: "full",
      round: 1,
      settled: true,
      total: PAYMENTS,
      added: PAYMENTS,
      missing: 0,
    });
    expect(await unlike()).toEqual([]);
    const { history } = await rig.client.workflow
      .getHandle(workflowId)
      .fetchHistory()
      .then((fetched) => ({ history: fetched }));
    expect(JSON.stringify(history)).not.toContain("bp_0000200");
    expect(rig.simulator.accounting.calls().every(({ signed, status }) => signed && status === 200)).toBe(true);
  });

  test("reads only what has changed after the first time", async () => {
    rig.simulator.accounting.changeBillPayment("bp_0000007", { note: "corrected" }, { status: "failed" });
    rig.simulator.accounting.addBillPayment({ id: "bp_new" }, { status: "pending" });
    const outcome = await sync();
    expect(outcome).toMatchObject({ kind: "recent", settled: true, total: PAYMENTS + 1, added: 1, changed: 2 });
    // Each list until a page that has only known ground, and the looks whether statuses are told apart.
    expect(pages()).toBeLessThan(10);
    expect(await unlike()).toEqual([]);
  });

  test("misses no change behind a page that is not found once", async () => {
    const { accounting } = rig.simulator;
    const synced = accounting.billPayments().filter(({ status }) => status === "synced");
    expect(synced.length).toBeGreaterThan(100);
    for (const { body } of synced) accounting.changeBillPayment(body.id, { note: "changed with many" });
    const missing = { operation: "listBillPayments", when: "before", kind: "status", status: 404, times: 1 } as const;
    // Two looks whether the service tells statuses apart, and the first page of all payments.
    rig.simulator.inject({ ...missing, skip: 3 });
    // One of the looks, and the first page.
    rig.simulator.inject({ ...missing, match: { status: "synced" }, skip: 2 });
    expect(await sync()).toMatchObject({ kind: "recent", settled: true, changed: synced.length });
    const struck = accounting.calls("listBillPayments").filter(({ status }) => status === 404);
    expect(struck.map(({ query }) => [query["status"], query["page"]])).toEqual([
      [undefined, "2"],
      ["synced", "2"],
    ]);
    expect(await unlike()).toEqual([]);
  });

  test("notices by the counts that a payment is gone, and a full one finds which", async () => {
    rig.simulator.accounting.removeBillPayment("bp_0000100");
    rig.simulator.accounting.changeBillPayment("bp_0000200", {}, { status: null });
    expect(await sync()).toMatchObject({ kind: "recent", settled: false });
    expect(await sync({ full: true })).toMatchObject({ kind: "full", settled: true, missing: 1, total: PAYMENTS });
    expect(await unlike()).toEqual([]);
    const history = await withLedger(rig.config, (ledger) =>
      ledger.billPayments.history({ connection: "default" }, "bp_0000100"),
    );
    expect(history.at(-1)).toMatchObject({ changes: ["missing"], writer: { workflowId } });
    rig.simulator.accounting.changeBillPayment("bp_0000200", {}, { status: "synced" });
  });

  test("misses nothing although payments are added, changed and removed while it reads", async () => {
    const { accounting } = rig.simulator;
    let disturbed = 0;
    const disturb = (): boolean => {
      const calls = pages();
      // Until well into its second round.
      if (calls > disturbed && calls <= 22) {
        disturbed = calls;
        accounting.addBillPayment({ id: `added_${calls}` }, { status: "syncing" });
        accounting.changeBillPayment(`bp_00003${10 + calls}`, { totalAmount: calls }, { status: "failed" });
        accounting.removeBillPayment(`bp_00000${10 + calls}`);
      }
      return calls > 22;
    };
    const stopped = rig.simulator.until(disturb);
    const outcome = await sync({ full: true });
    await stopped;
    expect(outcome.round).toBeGreaterThan(1);
    expect(outcome).toMatchObject({ settled: true });
    expect(await unlike()).toEqual([]);
  });

  test("misses nothing although payments with equal sort fields change their order", async () => {
    const { accounting } = rig.simulator;
    const times = { createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z" };
    // Around the end of the first page.
    for (let number = 0; number < 80; number++)
      accounting.addBillPayment(
        { id: `before_${number}`, ...times, updatedAt: `2026-01-02T00:${10 + (number % 50)}:00Z` },
        { status: "synced" },
      );
    for (let number = 0; number < 30; number++)
      accounting.addBillPayment({ id: `tie_${number}`, ...times }, { status: "synced" });
    accounting.changeSettings({ unstableTies: true });
    const outcome = await sync({ full: true });
    accounting.changeSettings({ unstableTies: false });
    expect(outcome).toMatchObject({ settled: true });
    expect(await unlike()).toEqual([]);
  });

  test("continues where it was after its worker has stopped", async () => {
    const { accounting } = rig.simulator;
    const handle = await start({ full: true });
    await rig.simulator.until(() => pages() >= 6);
    await rig.stopWorkers();
    await rig.startWorkers();
    expect(await handle.result()).toMatchObject({ settled: true, round: 1 });
    // The first pages are also looked at to tell whether something changed meanwhile; the others are read once in a
    // pass that is not begun anew.
    const read = accounting.calls("listBillPayments").map(({ query }) => `${query["status"]} ${query["page"]}`);
    const others = read.filter((page) => !page.endsWith(" 1"));
    expect(others).toEqual([...new Set(others)]);
    expect(others.length).toBeGreaterThan(4);
    expect(await unlike()).toEqual([]);
  });

  test("runs again when another one was requested meanwhile", async () => {
    const { accounting } = rig.simulator;
    rig.simulator.inject({
      operation: "listBillPayments",
      when: "after",
      kind: "slow",
      delayMs: 300,
      match: { status: "synced" },
      // The first looks only whether the service tells statuses apart.
      skip: 1,
      times: 1,
    });
    const readOf = (status?: string) =>
      accounting
        .calls("listBillPayments")
        .filter(({ query }) => query["limit"] === "100" && query["status"] === status);
    const handle = await start();
    await rig.simulator.until(() => readOf("synced").length > 0);
    accounting.changeBillPayment("bp_0000009", { note: "while it read" });
    await handle.signal(SIGNALS.syncRequested, {});
    expect(await handle.result()).toMatchObject({ changed: 1 });
    // The second one reads past what has changed.
    expect(readOf()).toHaveLength(3);
    expect(await unlike()).toEqual([]);
  });

  test("parks on a refused key, and goes on after a retry", async () => {
    const { accounting } = rig.simulator;
    accounting.setApplication("simulator", { denied: ["listBillPayments"] });
    const handle = await start();
    await expect.poll(async () => (await state()).attentions[0]?.code).toBe("credentials");
    expect(rig.logged).toContainEqual(
      expect.objectContaining({
        level: "warn",
        fields: expect.objectContaining({ connection: "accounting/default", status: 403 }),
      }),
    );
    accounting.setApplication("simulator", { denied: [] });
    await handle.executeUpdate(UPDATES.retry, { args: [{ note: "authorized" }] });
    expect(await handle.result()).toMatchObject({ settled: true });
  });

  test("waits as long as a 429 says, and retries while the service fails", async () => {
    const { accounting } = rig.simulator;
    rig.simulator.inject({
      operation: "listBillPayments",
      when: "before",
      kind: "rate-limit",
      retryAfterSeconds: 1,
      times: 1,
    });
    rig.simulator.inject({ operation: "listBillPayments", when: "after", kind: "drop", times: 1 });
    rig.simulator.inject({ operation: "listBillPayments", when: "before", kind: "status", status: 502, times: 1 });
    rig.simulator.inject({ operation: "listBillPayments", when: "after", kind: "wrong-types", times: 1 });
    expect(await sync()).toMatchObject({ settled: true });
    const [refused, next] = accounting.calls("listBillPayments");
    expect((next?.atMs ?? 0) - (refused?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  test("fails for an unknown connection, and names the known ones", async () => {
    const failed = await sync({ connection: "other" }).catch((error: unknown) => error);
    expect(String((failed as Error).cause)).toContain(
      'expected a configured accounting connection ("default"), found "other"',
    );
  });
});
