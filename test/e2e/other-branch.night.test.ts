import { afterAll, beforeAll, expect, test } from "vitest";

import { parseDialect } from "../../src/compliance/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/**
 * The name of the branch selector is not shown: a service that does not know it books the goods in its first branch.
 */
describeWithTemporal("a service that ignores the branch of stock movements", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ simulator: { dialect: { stock: { branch: "location" } }, refuseUnknownFields: false } });
  });
  afterAll(() => rig?.close());

  const { start, parked, result, movementsOf, handleOf } = salesOf(() => rig);
  const inSecond = { branch: "branch_2" };
  /** The answer to the sale's movement names that branch. */
  function moveElsewhere(invoice: string, branchId: string): void {
    const body = { data: { movementId: "mov_elsewhere", branchId } };
    const elsewhere = { operation: "adjustStock", when: "after", kind: "status", status: 201, body, times: 1 } as const;
    rig.simulator.inject({ ...elsewhere, match: { referenceId: `${invoice}/item_tea/sold` } });
  }

  test("gets one movement to a named branch, and the others wait until an operator has acknowledged it", async () => {
    await start("BRANCH-1", inSecond);
    const looking = await parked("BRANCH-1", "unexpected-answer");
    expect(looking).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied", branchId: "branch_1" }] });
    expect(looking.attentions).toMatchObject([
      {
        subject: "BRANCH-1/item_tea/sold",
        resolvedBy: ["acknowledge"],
        message: expect.stringMatching(/"branch_2".*"branch_1".*stock\.branch.*stock\.branchBy/),
      },
    ]);
    await start("BRANCH-2", inSecond);
    await start("BRANCH-3", inSecond);
    const held = await parked("BRANCH-2", "stock-refused");
    expect(held).toMatchObject({ stage: "completed", document: { status: "completed" } });
    expect(held.attentions[0]?.message).toMatch(/was not sent.*BRANCH-1\/item_tea\/sold.*stock\.branch/);
    await parked("BRANCH-3", "stock-refused");
    await rig.starter.retry({ invoice: "BRANCH-2" });
    await parked("BRANCH-2", "stock-refused");
    // It waits as an activity that is tried again, so the wait itself adds nothing to the history.
    expect((await handleOf("BRANCH-2").fetchHistory()).events?.length).toBeLessThan(100);
    await start("FIRST-1");
    expect(await result("FIRST-1")).toMatchObject({ stockMovements: [{ state: "applied" }] });
    expect(movementsOf("BRANCH-2")).toEqual([]);

    // Given up, as what the service refused.
    await rig.starter.acknowledge({ invoice: "BRANCH-3" }, { code: "stock-refused", note: "booked by hand" });
    expect(await result("BRANCH-3")).toMatchObject({ stockMovements: [{ state: "dropped" }] });

    await rig.starter.acknowledge({ invoice: "BRANCH-1" }, { code: "unexpected-answer", note: "moved by hand" });
    expect(await result("BRANCH-1")).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(await result("BRANCH-2")).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(movementsOf("BRANCH-2")).toHaveLength(1);
  });

  test("leaves a caller waiting for the document, which the movement's branch does not hold up", async () => {
    rig.simulator.setAuthority("WAIT-1", [{ do: "down" }]);
    moveElsewhere("WAIT-1", "branch_8");
    const sale = { traderInvoiceNumber: "WAIT-1", lines: [TEA], refundWindow: "0", ...inSecond };
    await rig.starter.startSale(sale);
    await parked("WAIT-1", "unexpected-answer");
    const told = rig.starter.startSaleAndWait(sale, { waitSeconds: 60 });
    const isWaiting = async (): Promise<boolean> =>
      ((await handleOf("WAIT-1").fetchHistory()).events ?? []).some(
        (event) => event.workflowExecutionUpdateAcceptedEventAttributes,
      );
    await expect.poll(isWaiting, { timeout: 10_000 }).toBe(true);
    rig.simulator.setAuthority("WAIT-1", [{ do: "accept" }]);
    expect((await told).outcome).toMatchObject({ stage: "completed" });
    await rig.starter.acknowledge({ invoice: "WAIT-1" }, { code: "unexpected-answer", note: "moved by hand" });
    expect(await result("WAIT-1")).toMatchObject({ stage: "completed" });
  });

  test("is sent the waiting movements after a retry with a note, where no attention is left to acknowledge", async () => {
    moveElsewhere("GONE-1", "branch_7");
    await start("GONE-1", inSecond);
    await parked("GONE-1", "unexpected-answer");
    await handleOf("GONE-1").terminate("cleaned up");
    await start("GONE-2", inSecond);
    await start("GONE-3", inSecond);
    await parked("GONE-3", "stock-refused");
    const held = await parked("GONE-2", "stock-refused");
    expect(held.attentions[0]?.message).toMatch(/GONE-1\/item_tea\/sold.*retry.*note/);

    const tries = async () =>
      ((await handleOf("GONE-2").fetchHistory()).events ?? []).filter(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === "adjustStock",
      ).length;
    const before = await tries();
    await rig.starter.retry({ invoice: "GONE-2" });
    await expect.poll(tries).toBeGreaterThan(before);
    expect((await parked("GONE-2", "stock-refused")).stockMovements).toMatchObject([{ state: "refused" }]);

    await rig.starter.retry({ invoice: "GONE-2" }, { note: "the service has one branch" });
    expect(await result("GONE-2")).toMatchObject({ stockMovements: [{ state: "applied" }] });
    expect(await result("GONE-3")).toMatchObject({ stockMovements: [{ state: "applied" }] });
  });

  test("stays held where a retry with a note means the rejected document too", async () => {
    moveElsewhere("BOTH-1", "branch_5");
    await start("BOTH-1", inSecond);
    await parked("BOTH-1", "unexpected-answer");
    rig.simulator.setAuthority("BOTH-2", [{ do: "reject", afterMs: 500, reason: "no PIN" }]);
    await start("BOTH-2", inSecond);
    await rig.stateWhen("BOTH-2", ({ attentions }) => attentions.length === 2);
    rig.simulator.setAuthority("BOTH-2", [{ do: "accept" }]);
    await rig.starter.retry({ invoice: "BOTH-2" }, { note: "the PIN is corrected" });
    await rig.stateWhen("BOTH-2", ({ stage }) => stage === "completed");
    const { attentions } = await parked("BOTH-2", "stock-refused");
    expect(attentions).toMatchObject([{ subject: "BOTH-2/item_tea/sold" }]);
    await rig.starter.retry({ invoice: "BOTH-2" }, { code: "stock-refused", note: "the service has one branch" });
    expect(await result("BOTH-2")).toMatchObject({ stockMovements: [{ state: "applied" }] });
    await rig.starter.acknowledge({ invoice: "BOTH-1" }, { code: "unexpected-answer", note: "moved by hand" });
    await result("BOTH-1");
  });

  test("gets nothing back from a cancelled sale while it refuses to name its branches, and an operator sees that", async () => {
    moveElsewhere("BACK-1", "branch_6");
    rig.simulator.setAuthority("BACK-1", [{ do: "reject", afterMs: 500, reason: "no" }]);
    await start("BACK-1", inSecond);
    await rig.stateWhen("BACK-1", ({ attentions }) => attentions.length === 2);
    await rig.starter.acknowledge({ invoice: "BACK-1" }, { code: "unexpected-answer", note: "seen" });
    const refused = { operation: "listBusinesses", when: "before", kind: "status", status: 400 } as const;
    rig.simulator.inject({ ...refused, times: 3 });
    await rig.starter.cancel({ invoice: "BACK-1" }, { reason: "the customer left" });
    const { attentions } = await parked("BACK-1", "stock-refused");
    expect(attentions).toMatchObject([{ subject: "BACK-1/item_tea/sold", resolvedBy: ["retry", "acknowledge"] }]);
    expect(attentions[0]?.message).toMatch(/^Not returned to stock: /);
    const looks = ((await handleOf("BACK-1").fetchHistory()).events ?? []).filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === "readBranch",
    );
    // Of the sale's own branch, and of this one.
    expect(looks).toHaveLength(2);
    await rig.starter.acknowledge({ invoice: "BACK-1" }, { code: "stock-refused", note: "moved by hand" });
    expect(await result("BACK-1")).toMatchObject({ stage: "cancelled", stockMovements: [{ state: "applied" }] });
    expect(movementsOf("BACK-1")).toHaveLength(1);
  });

  test("is sent the waiting movements automatically once the setting is changed", async () => {
    // Another pair of branches, which nobody has looked at: held anew.
    moveElsewhere("SETTING-1", "branch_9");
    await start("SETTING-1", inSecond);
    await parked("SETTING-1", "unexpected-answer");
    await start("SETTING-2", inSecond);
    await parked("SETTING-2", "stock-refused");
    await rig.stopWorkers();
    for (const connection of rig.config.compliance)
      connection.dialect = parseDialect({ stock: { branch: "location" } });
    await rig.startWorkers();
    expect(await result("SETTING-2")).toMatchObject({ stockMovements: [{ state: "applied", branchId: "branch_2" }] });
    await rig.starter.acknowledge({ invoice: "SETTING-1" }, { code: "unexpected-answer", note: "moved by hand" });
    expect(await result("SETTING-1")).toMatchObject({ stage: "completed" });
  });
});

describeWithTemporal("a worker that no longer holds the branch, beside one that still does", () => {
  let rig: Rig;
  beforeAll(async () => {
    // As while a changed dialect is rolled out: the main queue is served under the new one, the API's queue under the
    // old one.
    const withLedger = (real: Ledger): Ledger => ({
      ...real,
      stock: { ...real.stock, branchHold: async () => undefined },
    });
    const simulator = { dialect: { stock: { branch: "location" } }, refuseUnknownFields: false };
    rig = await startRig({ simulator, withLedger });
  });
  afterAll(() => rig?.close());

  const { start, parked, result, handleOf } = salesOf(() => rig);

  test("makes a held movement pause between its tries", async () => {
    await start("ROLL-1", { branch: "branch_2" });
    await parked("ROLL-1", "unexpected-answer");
    await start("ROLL-2", { branch: "branch_2" });
    const triedAtMs = async (): Promise<number[]> =>
      ((await handleOf("ROLL-2").fetchHistory()).events ?? [])
        .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === "adjustStock")
        .map(({ eventTime }) => Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6);
    await expect.poll(async () => (await triedAtMs()).length, { timeout: 15_000 }).toBeGreaterThanOrEqual(3);
    const tries = await triedAtMs();
    const gaps = tries.slice(1).map((atMs, at) => atMs - (tries[at] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(900);
    await rig.starter.acknowledge({ invoice: "ROLL-1" }, { code: "unexpected-answer", note: "one branch" });
    expect(await result("ROLL-2")).toMatchObject({ stockMovements: [{ state: "applied" }] });
  });
});
