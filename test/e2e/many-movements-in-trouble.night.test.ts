import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import type { CuttableLine } from "../rig/cuttable-line.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { countOf, goods, largeSalesOf, takenOf } from "../rig/goods.ts";
import { nameOfStep } from "../rig/replay-all.ts";
import { resetRun } from "../rig/reset-run.ts";
import type { Rig } from "../rig/start-rig.ts";
import { type RigOnLine, startRigOnLine } from "../rig/start-rig-on-line.ts";

const ITEMS = 40;
const MOST_AT_ONCE = 5;
const WHOLE = { applied: ITEMS, madeOnce: ITEMS };
/** Six for each movement, and some for the trouble of those that meet it. */
const MOST_EVENTS = ITEMS * 6 + MOST_AT_ONCE * 60;

const SCOPES = ["sales:read", "sales:write", "catalog:read", "catalog:write"] as const;

/** docs/failure-model.md, "Stock movements": what one movement of many meets. */
describeWithTemporal("the movements of a sale of many items that meet trouble", () => {
  let rig: Rig;
  let line: CuttableLine;
  let onLine: RigOnLine;
  beforeAll(async () => {
    onLine = await startRigOnLine({
      timings: { callTimeoutMs: 1_500, refusedKeyPauseMs: 200 },
      simulator: { latencyMs: 5, scenario: { items: goods(ITEMS) } },
    });
    ({ rig, line } = onLine);
  });
  // A test that fails in between leaves the others their database.
  afterEach(() => line.restore());
  afterAll(() => onLine?.close());

  const { start, handleOf, booked, eventsOf } = largeSalesOf(() => rig, ITEMS);
  const expectOnceEach = (number: string): void => {
    expect([...booked(number).values()]).toEqual(Array.from({ length: ITEMS }, () => 1));
  };
  const expectBounded = async (invoice: string): Promise<void> => {
    expect(await eventsOf(rig.starter.workflowId({ invoice }))).toBeLessThan(MOST_EVENTS);
  };
  const notesOf = async (invoice: string): Promise<number> => {
    const { events } = await handleOf(invoice).fetchHistory();
    return (events ?? []).filter((event) => nameOfStep(event) === "noteRun").length;
  };
  /** Movements that the sale has as applied, and that the service has made once. */
  const totals = async (invoice: string): Promise<{ applied: number; madeOnce: number }> => {
    const { stockMovements } = await handleOf(invoice).result();
    const madeOnce = [...booked(invoice).values()].filter((times) => times === 1).length;
    return { applied: countOf(stockMovements, "applied"), madeOnce };
  };

  test("ask an operator for the one whose answer was lost, while the others go on", async () => {
    const subject = takenOf("LOST-1", 3);
    const lost = { operation: "adjustStock", when: "after", kind: "drop", times: 1 } as const;
    rig.simulator.inject({ ...lost, match: { referenceId: subject } });
    await start("LOST-1");
    const state = await rig.stateWhen(
      "LOST-1",
      ({ stockMovements }) => countOf(stockMovements, "applied") === ITEMS - 1,
    );
    expect(state.attentions).toMatchObject([{ code: "stock-unknown", subject }]);
    const word = { referenceId: subject, applied: true, note: "seen in the journal", by: "njeri" };
    await rig.starter.resolveStock({ invoice: "LOST-1" }, word);
    expect(await totals("LOST-1")).toEqual(WHOLE);
    await expectBounded("LOST-1");
  });

  test("share a few notes while an operator is asked about one of them", async () => {
    const lost = { operation: "adjustStock", when: "after", kind: "drop", times: 1 } as const;
    rig.simulator.inject({ ...lost, match: { referenceId: takenOf("RECORDS-1", 0) } });
    // So slowly that one note could follow each of them.
    for (let n = 1; n < ITEMS; n++) {
      const slow = { operation: "adjustStock", when: "after", kind: "slow", delayMs: 100 + 10 * n, times: 1 } as const;
      rig.simulator.inject({ ...slow, match: { referenceId: takenOf("RECORDS-1", n) } });
    }
    await start("RECORDS-1");
    const { attentions } = await rig.stateWhen(
      "RECORDS-1",
      ({ stockMovements }) => countOf(stockMovements, "applied") === ITEMS - 1,
    );
    expect(attentions).toMatchObject([{ code: "stock-unknown" }]);
    const word = { referenceId: takenOf("RECORDS-1", 0), applied: true, note: "seen in the journal" };
    await rig.starter.resolveStock({ invoice: "RECORDS-1" }, word);
    expect(await totals("RECORDS-1")).toEqual(WHOLE);
    expect(await notesOf("RECORDS-1")).toBeLessThan(5);
  });

  test("can have only the refused one tried again or given up", async () => {
    const refused = { operation: "adjustStock", when: "before", kind: "status", status: 422, times: 1 } as const;
    const body = { error: { code: "stock_locked", message: "stocktaking" } };
    const [again, never] = [takenOf("REFUSED-1", 3), takenOf("REFUSED-1", 20)];
    rig.simulator.inject({ ...refused, body, match: { referenceId: again } });
    rig.simulator.inject({ ...refused, body, match: { referenceId: never } });
    const handle = await start("REFUSED-1");
    await rig.stateWhen("REFUSED-1", ({ stockMovements }) => countOf(stockMovements, "applied") === ITEMS - 2);
    await rig.starter.retry({ invoice: "REFUSED-1" }, { code: "stock-refused", subject: again });
    const given = { code: "stock-refused", subject: never, note: "booked by hand" } as const;
    await rig.starter.acknowledge({ invoice: "REFUSED-1" }, given);
    const { stockMovements } = await handle.result();
    expect(stockMovements.filter(({ state }) => state !== "applied")).toMatchObject([
      { referenceId: never, state: "dropped" },
    ]);
    expect(booked("REFUSED-1").size).toBe(ITEMS - 1);
  });

  test("wait behind a refused key with a few attentions, and follow those once the key works again", async () => {
    const slow = { operation: "adjustStock", when: "after", kind: "slow", delayMs: 800, times: 1 } as const;
    rig.simulator.inject({ ...slow, match: { referenceId: takenOf("KEY-1", 0) } });
    await start("KEY-1");
    await rig.simulator.until(() => booked("KEY-1").size >= 1);
    rig.simulator.setKey("cmp_sk_test_simulator", { scopes: [...SCOPES] });
    const { attentions, stockMovements } = await rig.stateWhen(
      "KEY-1",
      (one) => one.stockMovements.every(({ state }) => state !== "sending") && one.attentions.length > 0,
    );
    expect(attentions.every(({ code }) => code === "credentials")).toBe(true);
    expect(countOf(stockMovements, "planned")).toBeGreaterThan(0);
    expect(attentions.length).toBeLessThanOrEqual(MOST_AT_ONCE);
    await rig.starter.retry({ invoice: "KEY-1" }, { note: "looked at the key" });
    const stands = await rig.stateWhen("KEY-1", (one) => one.decisions.length >= attentions.length);
    expect(stands.attentions.length).toBeLessThanOrEqual(MOST_AT_ONCE);
    rig.simulator.setKey("cmp_sk_test_simulator", { scopes: [...SCOPES, "stock:write"] });
    // One that was under way when the key worked again finds out by itself only later.
    const stillRefused = async (): Promise<number> => {
      await rig.starter.retry({ invoice: "KEY-1" }).catch(() => undefined);
      return (await rig.starter.getSale({ invoice: "KEY-1" })).attentions.length;
    };
    await expect.poll(stillRefused).toBe(0);
    expect(await totals("KEY-1")).toEqual(WHOLE);
    await expectBounded("KEY-1");
  });

  test("wait until the database of the claims is back, with few events in the history", async () => {
    const slow = { operation: "adjustStock", when: "after", kind: "slow", delayMs: 500, times: 1 } as const;
    rig.simulator.inject({ ...slow, match: { referenceId: takenOf("AWAY-1", 0) } });
    const handle = await start("AWAY-1");
    await rig.simulator.until(() => booked("AWAY-1").size >= 1);
    line.cut();
    const { stockMovements } = await rig.stateWhen("AWAY-1", (one) =>
      one.stockMovements.every(({ state }) => state !== "sending"),
    );
    expect(countOf(stockMovements, "planned")).toBeGreaterThan(0);
    const tries = async () => (await handle.describe()).raw.pendingActivities?.map(({ attempt }) => attempt ?? 0) ?? [];
    await expect.poll(async () => Math.max(...(await tries()))).toBeGreaterThan(2);
    // Some that met it, some whose answer is not written down yet, and the record.
    expect((await tries()).length).toBeLessThanOrEqual(2 * MOST_AT_ONCE + 1);
    line.restore();
    expect(await totals("AWAY-1")).toEqual(WHOLE);
    await expectBounded("AWAY-1");
  });

  test("wait for the quota, and go on", async () => {
    const limited = { operation: "adjustStock", when: "before", kind: "rate-limit", retryAfterSeconds: 0 } as const;
    for (const n of [2, 17, 18])
      rig.simulator.inject({ ...limited, times: 1, match: { referenceId: takenOf("QUOTA-1", n) } });
    await start("QUOTA-1");
    expect(await totals("QUOTA-1")).toEqual(WHOLE);
    await expectBounded("QUOTA-1");
  });

  test("survive workers that are stopped in the middle", async () => {
    const slow = { operation: "adjustStock", when: "after", kind: "slow", delayMs: 1_000, times: 1 } as const;
    rig.simulator.inject({ ...slow, match: { referenceId: takenOf("STOPPED-1", 14) } });
    await start("STOPPED-1");
    await rig.simulator.until(() => booked("STOPPED-1").has(takenOf("STOPPED-1", 14)));
    await rig.stopWorkers();
    await rig.startWorkers();
    expect(await totals("STOPPED-1")).toEqual(WHOLE);
  });

  test("of a run that is reset while one of them is under way are sent no second time", async () => {
    const slow = { operation: "adjustStock", when: "after", kind: "slow", delayMs: 1_200, times: 1 } as const;
    rig.simulator.inject({ ...slow, match: { referenceId: takenOf("POINT-1", 14) } });
    const handle = await start("POINT-1");
    // It left before the point to which the run is reset, and has no answer yet.
    await rig.simulator.until(() => booked("POINT-1").has(takenOf("POINT-1", 14)) && booked("POINT-1").size >= 25);
    await resetRun(rig.client, rig.namespace, handle.workflowId, "last-task");
    expect(await totals("POINT-1")).toEqual(WHOLE);
    expectOnceEach("POINT-1");
  });
});
