import { afterAll, beforeAll, expect, test } from "vitest";

import { isFinished } from "../../activities/main/earlier-run.ts";
import type { RecordPart, SaleInput } from "../../src/contract/index.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

interface Scheduled {
  activityTaskScheduledEventAttributes?: { activityType?: { name?: string } };
}

describeWithTemporal("a record that the ledger does not take with an answer", () => {
  let rig: Rig;
  let refusals = 0;
  const saved: RecordPart[] = [];
  beforeAll(async () => {
    rig = await startRig({
      withLedger: (real) => ({
        ...real,
        records: {
          ...real.records,
          saveDocument: async (...record) => {
            if (refusals > 0) {
              refusals -= 1;
              throw new LedgerUnavailableError("The ledger is away.");
            }
            saved.push(record[1]);
            return await real.records.saveDocument(...record);
          },
        },
      }),
    });
    await (await start("WARM-UP")).result();
  });
  afterAll(() => rig?.close());
  const { start, parked } = salesOf(() => rig);

  const inFlight = async (invoice: string, more: Partial<SaleInput> = {}) => {
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    const handle = await start(invoice, more);
    // Whatever moves with its submission is applied by then.
    await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
    return handle;
  };

  const activitiesOf = async (handle: { fetchHistory(): Promise<{ events?: unknown }> }) =>
    ((await handle.fetchHistory()).events as Scheduled[]).flatMap(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
    );

  test("is kept by itself, and the document is not read again", async () => {
    const signed = (invoice: string): void => rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
    const atOnce = await inFlight("FLOWN-1");
    signed("FLOWN-1");
    await atOnce.result();
    expect(await activitiesOf(atOnce)).toEqual(["prepareSale", "createSale", "adjustStock", "readDocument"]);
    expect((await rig.ledger.records.findSale(BUSINESS, "FLOWN-1"))?.record).toMatchObject({
      stage: "completed",
      document: { status: "completed", receipt: expect.anything() },
      movements: [{ state: "applied" }],
    });
    const refused = await inFlight("FLOWN-2");
    refusals = 1;
    signed("FLOWN-2");
    await refused.result();
    expect(await activitiesOf(refused)).toEqual([
      "prepareSale",
      "createSale",
      "adjustStock",
      "readDocument",
      "saveRecord",
    ]);
    expect((await rig.ledger.records.findSale(BUSINESS, "FLOWN-2"))?.record).toMatchObject({
      stage: "completed",
      document: { status: "completed" },
    });
  });

  test("is kept by itself, and the movement is not sent again", async () => {
    refusals = 1;
    const handle = await start("REFUSED-1");
    expect(await handle.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(await activitiesOf(handle)).toEqual(["prepareSale", "createSale", "adjustStock", "saveRecord"]);
    const [movement] = rig.simulator
      .books()
      .movements.filter(({ referenceId }) => referenceId?.startsWith("REFUSED-1"));
    expect((await rig.ledger.records.findSale(BUSINESS, "REFUSED-1"))?.record).toMatchObject({
      stage: "completed",
      movements: [{ state: "applied", movementId: movement?.movementId }],
    });
    expect(rig.callsOf("REFUSED-1").filter((call) => call === "adjustStock")).toHaveLength(1);
  });

  test("never says that the sale is finished while something is still to be done", async () => {
    const invoices = ["LATER-1", "LATER-2", "LATER-3"];
    const moved = await inFlight("LATER-1", { callback: "off", stock: "on-completion" });
    const compared = await inFlight("LATER-2", { callback: "off", stock: "off", expectedTotal: 1 });
    // Read after its callback, and not by a poll that was under way before the refund was asked for.
    const refunded = await inFlight("LATER-3", { stock: "off" });
    await refunded.signal("refundRequested", { reason: "06", traderInvoiceNumber: "CN-LATER-3" });
    await rig.stateWhen("LATER-3", ({ refund }) => refund !== undefined);
    for (const invoice of invoices) rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
    await parked("LATER-2", "mismatch");
    await rig.starter.acknowledge({ invoice: "LATER-2" }, { code: "mismatch", note: "the till rounds" });
    await Promise.all([moved, compared, refunded].map((handle) => handle.result()));
    for (const invoice of invoices) {
      const records = saved.filter(({ number }) => number === invoice);
      const finished = records.filter(({ document, incomplete, ...record }) =>
        isFinished({ ...record, document: document === "unchanged" ? null : document, incomplete }),
      );
      expect(finished).toEqual(records.slice(-1));
    }
  });
});
