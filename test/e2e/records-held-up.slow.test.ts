import { afterAll, beforeAll, expect, test } from "vitest";

import { type OutsideClient, openOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { asOwner } from "../rig/fresh-database.ts";
import type { CuttableLine } from "../rig/cuttable-line.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { findingsIn } from "../rig/findings-in.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import type { Rig } from "../rig/start-rig.ts";
import { type RigOnLine, startRigOnLine } from "../rig/start-rig-on-line.ts";

/** Decision 22: what must be kept for years, by who has the answer. */
describeWithTemporal("records that are held up", () => {
  let rig: Rig;
  let line: CuttableLine;
  let onLine: RigOnLine;
  let outside: OutsideClient;
  beforeAll(async () => {
    onLine = await startRigOnLine({ ledgerTimeoutMs: 500 });
    ({ rig, line } = onLine);
    outside = openOutsideClient(asOwner(onLine.databaseUrl));
  });
  afterAll(async () => {
    await outside?.end();
    await onLine?.close();
  });
  const { handleOf, parked, result } = salesOf(() => rig);

  /** A sale whose answer comes when the ledger is away already. */
  async function soldAsTheLedgerGoes(invoice: string) {
    const slow = { operation: "createSale", when: "after", kind: "slow", delayMs: 500, times: 1 } as const;
    rig.simulator.inject({ ...slow, match: { invoice } });
    const waiting = rig.starter.startSaleAndWait(
      { traderInvoiceNumber: invoice, lines: [TEA], stock: "off", refundWindow: "0" },
      { waitSeconds: 20 },
    );
    await rig.simulator.until(() => rig.simulator.documents(invoice).length === 1);
    line.cut();
    const { outcome } = await waiting;
    expect(outcome).toMatchObject({ stage: "completed", receipt: { receiptLabel: "NS" } });
    return outcome;
  }

  test("do not delay callers while the ledger is away, and are complete before the workflow ends", async () => {
    await soldAsTheLedgerGoes("AWAY-1");
    const pending = async (): Promise<string[]> => {
      const { raw } = await handleOf("AWAY-1").describe();
      return (raw.pendingActivities ?? []).map(({ activityType }) => activityType?.name ?? "");
    };
    await expect.poll(pending).toContain("awaitLedger");
    // Its window has closed, but it is open: a refund is taken, and not lost.
    const request = { reason: "06", traderInvoiceNumber: "CN-AWAY-1" } as const;
    const refunding = rig.starter.refund({ invoice: "AWAY-1" }, request, { waitSeconds: 20 });
    await rig.stateWhen("AWAY-1", ({ stage }) => stage === "crediting" || stage === "credited");
    line.restore();
    expect(await refunding).toMatchObject({ stage: "credited" });
    expect(await result("AWAY-1")).toMatchObject({ stage: "credited" });
    const { rows } = await outside.query(
      "select type, stage, status from documents where number in ('AWAY-1', 'CN-AWAY-1') order by type",
    );
    expect(rows).toEqual([
      { type: "credit_note", stage: "credited", status: "completed" },
      { type: "sale", stage: "credited", status: "completed" },
    ]);
  });

  test("ask an operator where the service does not show the document again, and end once that is acknowledged", async () => {
    const outcome = await soldAsTheLedgerGoes("AWAY-2");
    const id = outcome?.sale?.id ?? "";
    const gone = { status: 404, body: { error: { code: "not_found", message: "no such sale" } } };
    const isBack = rig.simulator.inject({ operation: "readSale", when: "before", kind: "status", ...gone });
    line.restore();
    const { attentions } = await parked("AWAY-2", "unexpected-answer");
    expect(attentions).toMatchObject([{ subject: `ledger ${id}`, message: expect.stringContaining("no such sale") }]);
    await rig.starter.acknowledge({ invoice: "AWAY-2" }, { code: "unexpected-answer", note: "it is on paper" });
    expect(await result("AWAY-2")).toMatchObject({ stage: "completed", sale: { id } });
    isBack();
    const { rows } = await outside.query("select stage, document_id from documents where number = 'AWAY-2'");
    expect(rows).toEqual([{ stage: "completed", document_id: null }]);
  });

  test("verify in every row", async () => {
    expect(await findingsIn(rig.ledger)).toEqual([]);
  });
});
