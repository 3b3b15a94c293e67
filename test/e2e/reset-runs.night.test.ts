import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput } from "../../src/contract/index.ts";
import { triggerFault } from "../../src/dev/simulator/triggers.ts";
import { keepClosedRuns } from "../../src/worker/each-minute.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { viewsOf } from "../rig/views-of.ts";
import { findingsIn } from "../rig/findings-in.ts";

describeWithTemporal("a sale that is reset", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start, handleOf, parked, result, movementsOf } = salesOf(() => rig);
  const views = viewsOf(() => rig);
  const { fiscalflow, listedAs, shown, row, openNumbers, endedNumbers, recordedInLedger } = views;

  /** Everybody says that it is under way, and nobody that its run was ended. */
  async function isUnderWay(input: SaleInput, attention: string | null): Promise<void> {
    const invoice = input.traderInvoiceNumber;
    const runs = async () => (await rig.client.workflow.count(`WorkflowId = "${handleOf(invoice).workflowId}"`)).count;
    await expect.poll(runs).toBe(2);
    await expect
      .poll(async () => {
        await keepClosedRuns(rig.client, rig.ledger);
        return (await row(invoice))?.closed;
      })
      .toBeUndefined();
    await expect.poll(() => listedAs(invoice)).toMatchObject([{ status: "running", attention }]);
    expect(await listedAs(invoice, "--attention")).toHaveLength(attention === null ? 0 : 1);
    expect(await listedAs(invoice, "--ended")).toEqual([]);
    expect(await openNumbers()).toContain(invoice);
    expect(await endedNumbers()).not.toContain(invoice);
    expect(await shown(invoice)).not.toHaveProperty("closed");
    expect(await rig.starter.getSale({ invoice })).not.toHaveProperty("closed");
    expect(await rig.starter.outcome({ invoice })).not.toHaveProperty("closed");
    expect(await rig.starter.startSale(input)).toMatchObject({ result: "known" });
    expect(await findingsIn(rig.ledger)).toEqual([]);
  }

  const unknown = (traderInvoiceNumber: string): SaleInput => ({
    traderInvoiceNumber,
    lines: [{ sku: "NO-SUCH", quantity: 2, unitPrice: 100 }],
  });

  test("while it waits for an operator is shown as running, and waits again", async () => {
    await rig.starter.startSale(unknown("RESET-1"));
    await parked("RESET-1", "item-unknown");
    await expect.poll(() => openNumbers()).toContain("RESET-1");
    await resetRun(rig.client, rig.namespace, handleOf("RESET-1").workflowId);
    await parked("RESET-1", "item-unknown");
    await isUnderWay(unknown("RESET-1"), "item-unknown");
    await rig.starter.cancel({ invoice: "RESET-1" }, { reason: "test over" });
  });

  test("after it was terminated is shown as running again", async () => {
    await rig.starter.startSale(unknown("RESET-2"));
    await parked("RESET-2", "item-unknown");
    await expect.poll(() => openNumbers()).toContain("RESET-2");
    await handleOf("RESET-2").terminate("by mistake");
    await recordedInLedger("terminated", "RESET-2");
    expect(await endedNumbers()).toContain("RESET-2");
    await resetRun(rig.client, rig.namespace, handleOf("RESET-2").workflowId, "last-task");
    await parked("RESET-2", "item-unknown");
    await isUnderWay(unknown("RESET-2"), "item-unknown");
    await rig.starter.cancel({ invoice: "RESET-2" }, { reason: "test over" });
  });

  test("is shown with its own start, what was done before each reset, and the resets", async () => {
    rig.simulator.setAuthority("RESET-4", [{ do: "down" }]);
    await start("RESET-4");
    const { workflowId } = handleOf("RESET-4");
    const first = await handleOf("RESET-4").describe();
    const timelineOf = async () => {
      const shown = JSON.parse((await fiscalflow("sale", "show", "RESET-4", "--json")).stdout) as {
        timeline: { atMs: number; what: string; note?: string }[];
      };
      return shown.timeline;
    };
    const waits = "Wait for the tax authority";
    const take = "Take 2 × Tea leaves 500 g from stock: applied";
    const before = ["started", "Issue the sale RESET-4: pending", take, waits];
    const again = ["was reset", "Issue the sale RESET-4: issued before", "Read the document", `${take} before`];
    // The first sale of a process reads the catalogue; pauses are longer on a busy machine.
    const isOfOthers = (what: string): boolean => what.startsWith("Find the items") || what.includes("pause");
    const said = async () =>
      (await timelineOf())
        .map(({ what }) => what.replace(/^(Read the document).*/, "$1"))
        .filter((what) => !isOfOthers(what));
    await expect.poll(said).toEqual(before);
    await resetRun(rig.client, rig.namespace, workflowId);
    await expect.poll(said).toEqual([...before, ...again, waits]);
    await resetRun(rig.client, rig.namespace, workflowId, { activity: "awaitDocument", last: true });
    await expect.poll(said).toEqual([...before, ...again, waits, "was reset", waits]);
    const entries = await timelineOf();
    expect(entries[0]?.atMs).toBe(first.startTime.getTime());
    expect(entries.filter(({ what }) => what === "was reset")).toMatchObject([
      { note: "a test of what a reset does" },
      { note: "a test of what a reset does" },
    ]);
    expect(entries.filter(({ what }) => what === waits).map(({ note }) => note)).toEqual([
      "broken off",
      "broken off",
      "goes on",
    ]);
    rig.simulator.setAuthority("RESET-4", [{ do: "accept" }]);
    expect(await result("RESET-4")).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("RESET-4")).toHaveLength(1);
  });

  test("keeps what an operator decided about a movement, in its state and in the ledger", async () => {
    rig.simulator.inject({ operation: "adjustStock", when: "before", kind: "drop", times: 1 });
    await start("RESET-5");
    await parked("RESET-5", "stock-unknown");
    const referenceId = "RESET-5/item_tea/sold";
    await rig.starter.resolveStock({ invoice: "RESET-5" }, { referenceId, applied: false, note: "counted" });
    await result("RESET-5");
    const decision = { applied: false, note: "counted" };
    await expect.poll(async () => (await row("RESET-5"))?.movements).toMatchObject([{ state: "applied", decision }]);

    await resetRun(rig.client, rig.namespace, handleOf("RESET-5").workflowId);
    expect(await result("RESET-5")).toMatchObject({
      stage: "completed",
      stockMovements: [{ state: "applied", decision }],
    });
    const { decisions } = await rig.starter.getSale({ invoice: "RESET-5" });
    expect(decisions).toMatchObject([{ update: "resolveStock", subject: referenceId, note: "counted" }]);
    expect((await row("RESET-5"))?.movements).toMatchObject([{ state: "applied", decision }]);
    expect(movementsOf("RESET-5")).toHaveLength(1);
  });

  test("is not cancelled where the run before has adopted its document, though this one cannot read it", async () => {
    const invoice = "RESET-6";
    const issued = rig.simulator.issueSale({
      businessId: "biz_1",
      traderInvoiceNumber: invoice,
      lines: [TEA],
      status: "completed",
    });
    await rig.starter.startSale({ traderInvoiceNumber: invoice, saleId: issued.id, refundWindow: "1 hour" });
    await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
    const endTrouble = rig.simulator.inject(triggerFault("credentials", {}));
    await resetRun(rig.client, rig.namespace, handleOf(invoice).workflowId, { activity: "readDocument" });
    await parked(invoice, "credentials");
    await rig.starter.cancel({ invoice }, { reason: "rung up by mistake" });
    endTrouble();
    // The key is asked for again, where the sale was not cancelled.
    const isRetried = () =>
      rig.starter.retry({ invoice }).then(
        () => true,
        () => false,
      );
    await expect.poll(isRetried).toBe(true);
    const { document } = await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
    expect(document).toMatchObject({ id: issued.id });
    await handleOf(invoice).cancel();
  });

  test("after it was terminated in flight has one document and one movement", async () => {
    const input = { traderInvoiceNumber: "RESET-3", lines: [TEA], refundWindow: "0" };
    rig.simulator.setAuthority("RESET-3", [{ do: "down" }]);
    await start("RESET-3");
    const isInFlight = () =>
      rig.stateWhen("RESET-3", ({ stage, stockMovements }) => {
        return stage === "awaiting-authority" && stockMovements[0]?.state === "applied";
      });
    await isInFlight();
    await expect.poll(() => openNumbers()).toContain("RESET-3");
    await handleOf("RESET-3").terminate("by mistake");
    await recordedInLedger("terminated", "RESET-3");
    await resetRun(rig.client, rig.namespace, handleOf("RESET-3").workflowId);
    await isInFlight();
    await isUnderWay(input, null);
    rig.simulator.setAuthority("RESET-3", [{ do: "accept" }]);
    expect(await result("RESET-3")).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(rig.simulator.documents("RESET-3")).toHaveLength(1);
    expect(movementsOf("RESET-3")).toHaveLength(1);
    await expect.poll(() => openNumbers()).not.toContain("RESET-3");
  });
});
