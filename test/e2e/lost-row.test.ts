import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { type OutsideClient, openOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { asOwner, freshDatabase } from "../rig/fresh-database.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/** As after a restore from a backup that is too old. */
describeWithTemporal("a sale whose row the database has lost", () => {
  let rig: Rig;
  let outside: OutsideClient;
  beforeAll(async () => {
    const databaseUrl = await freshDatabase(inject("ledgerServerUrl"));
    rig = await startRig({ receiver: false, env: { LEDGER_URL: databaseUrl } });
    outside = openOutsideClient(asOwner(databaseUrl));
  });
  afterAll(async () => {
    await outside?.end();
    await rig?.close();
  });
  const { start, sell, handleOf, parked, result, movementsOf } = salesOf(() => rig);

  test("is told by its result where it has ended, and not as one that nobody knows", async () => {
    const { sale, receipt, stockMovements } = await sell("LOST-ended");
    await outside.query("delete from documents where number = $1", ["LOST-ended"]);
    const told = await rig.starter.getSale({ invoice: "LOST-ended" });
    expect(told).toMatchObject({ stage: "completed", document: sale, stockMovements, source: "workflow" });
    expect(told.document?.receipt).toEqual(receipt);
    // Nor does a refund make its number free, which finds no row of it.
    const refund = { reason: "06", traderInvoiceNumber: "CN-LOST-ended" } as const;
    await expect(rig.starter.refund({ invoice: "LOST-ended" }, refund)).rejects.toThrow("The ledger has no sale");
    await expect
      .poll(() => rig.starter.getSale({ invoice: "LOST-ended" }))
      .toMatchObject({ stage: "completed", document: sale });
    await start("LOST-ended");
    expect((await handleOf("LOST-ended").describe()).status.name).toBe("FAILED");
    expect(rig.simulator.documents("LOST-ended")).toHaveLength(1);
  });

  test.each(["reset", "restarted"])(
    "is not sent again by its next run where it is %s: an operator decides",
    async (how) => {
      const invoice = `LOST-${how}`;
      rig.simulator.setAuthority(invoice, [{ do: "down" }]);
      await start(invoice, { stock: "off" });
      await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
      if (how === "restarted") await handleOf(invoice).terminate("to be restarted");
      await outside.query("delete from documents where number = $1", [invoice]);
      if (how === "reset") await resetRun(rig.client, rig.namespace, handleOf(invoice).workflowId);
      else await rig.starter.restart({ invoice }, { note: "the database is back" });
      await parked(invoice, "document-unknown");
      const [document] = rig.simulator.documents(invoice);
      expect(rig.simulator.documents(invoice)).toHaveLength(1);
      rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
      await rig.starter.resolveDocument({ invoice }, { saleId: document?.id ?? "", note: "seen in the dashboard" });
      expect(await result(invoice)).toMatchObject({ stage: "completed", sale: { id: document?.id } });
      expect(rig.simulator.documents(invoice)).toHaveLength(1);
      expect(movementsOf(invoice)).toEqual([]);
    },
  );
});
