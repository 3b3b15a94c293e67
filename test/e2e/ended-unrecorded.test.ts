import { afterAll, beforeAll, expect, test } from "vitest";

import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { correctionsOf } from "../rig/corrections-of.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { viewsOf } from "../rig/views-of.ts";

describeWithTemporal("a signed sale whose run was terminated before it could keep its record", () => {
  let rig: Rig;
  let keepsRecords = false;
  beforeAll(async () => {
    rig = await startRig({
      receiver: false,
      withLedger: (real) => ({
        ...real,
        records: {
          ...real.records,
          saveDocument: (...record) =>
            keepsRecords
              ? real.records.saveDocument(...record)
              : Promise.reject(new LedgerUnavailableError("The ledger is away.")),
        },
      }),
    });
  });
  afterAll(() => rig?.close());
  const { recordedInLedger, report } = viewsOf(() => rig);
  const { start, handleOf, result } = salesOf(() => rig);
  const { correct, documentsOf, both } = correctionsOf(() => rig);

  test("is refunded and corrected once it is restarted, and says so until then", async () => {
    const invoice = "UNKEPT-1";
    const restart = /terminated.*restart it \(`fiscalflow sale restart`\)/i;
    const refund = { reason: "06", traderInvoiceNumber: `CN-${invoice}` } as const;
    await start(invoice, { refundWindow: "1 hour" });
    await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
    await handleOf(invoice).terminate("by mistake");
    // A cashier is quicker than the look that tells the ledger.
    await expect(rig.starter.refund({ invoice }, refund)).rejects.toThrow(restart);
    await recordedInLedger("terminated", invoice);
    const { documents } = (await report()).ended;
    expect(documents).toMatchObject([{ number: invoice, status: "terminated", amount: "700.00" }]);
    keepsRecords = true;
    await expect(rig.starter.refund({ invoice }, refund)).rejects.toThrow(restart);
    await expect(correct(invoice)).rejects.toThrow(
      /ended at stage submitting .*Restart it \(`fiscalflow sale restart`\)/,
    );
    await rig.starter.restart({ invoice }, { note: "carry it on" });
    await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
    expect(await correct(invoice)).toMatchObject({ stage: "corrected" });
    expect(documentsOf(invoice)).toEqual(both(invoice));
    expect(await result(invoice)).toMatchObject({ stage: "credited" });
  });

  test("and not signed yet cannot be corrected before it is restarted", async () => {
    const invoice = "UNKEPT-2";
    keepsRecords = false;
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    await start(invoice);
    await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
    await handleOf(invoice).terminate("by mistake");
    await expect(correct(invoice)).rejects.toThrow(/ended at stage awaiting-authority .*Restart it/);
  });
});
