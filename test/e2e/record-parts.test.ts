import { afterAll, beforeAll, expect, inject, test } from "vitest";

import type { SaleOutcome } from "../../src/contract/index.ts";
import { type OutsideClient, openOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { asOwner, freshDatabase } from "../rig/fresh-database.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const LINES = 1_000;
const NUMBER = "PARTS-1";
const BUSINESS = { connection: "default", businessId: "biz_1" };

describeWithTemporal("the record of a sale that is sent in parts", () => {
  const items = Array.from({ length: LINES }, (_, n) => ({
    id: `goods_${n}_`.padEnd(100, "0123456789"),
    businessId: "biz_1",
    name: `Goods ${n}`,
    unitPrice: 100,
  }));
  let rig: Rig;
  let outside: OutsideClient;
  beforeAll(async () => {
    const url = await freshDatabase(inject("ledgerServerUrl"));
    rig = await startRig({ receiver: false, env: { LEDGER_URL: url }, simulator: { scenario: { items } } });
    outside = openOutsideClient(asOwner(url));
  });
  afterAll(async () => {
    await outside?.end();
    await rig?.close();
  });
  const kept = async () => (await rig.ledger.records.findSale(BUSINESS, NUMBER))?.record;

  test("is sent whole where the ledger lost it in the middle, with the lines from the service", async () => {
    rig.simulator.setAuthority(NUMBER, [{ do: "accept", afterMs: 3_600_000 }]);
    const lines = items.map(({ id }) => ({ itemId: id, quantity: 2, unitPrice: 100 }));
    const sale = { traderInvoiceNumber: NUMBER, lines, stock: "off", refundWindow: "0" } as const;
    const { workflowId } = await rig.starter.startSale(sale);
    await expect.poll(async () => (await kept())?.document?.lines.length).toBe(LINES);
    for (const table of ["movements", "documents"])
      await outside.query(`delete from ${table} where number = $1`, [NUMBER]);
    expect(await kept()).toBeUndefined();
    rig.simulator.setDocumentStatus(rig.simulator.documents(NUMBER)[0]?.id ?? "", "completed");
    const handle = rig.client.workflow.getHandle(workflowId);
    expect((await handle.result()) as SaleOutcome).toMatchObject({ stage: "completed" });
    const { events } = await handle.fetchHistory();
    const results = (events ?? []).flatMap(
      (event) => event.activityTaskCompletedEventAttributes?.result?.payloads ?? [],
    );
    const answers = results.map(({ data }) => Buffer.from(data ?? []).toString());
    expect(answers).toEqual(expect.arrayContaining(['"send-whole"', '"lines-missing"']));
    const record = await kept();
    expect(record).toMatchObject({ stage: "completed", document: { status: "completed" } });
    expect(record?.content?.lines.map(({ item }) => item)).toEqual(items.map(({ id }) => `id:${id}`));
    expect(record?.document?.lines.map(({ itemId }) => itemId)).toEqual(items.map(({ id }) => id));
    expect(record).not.toHaveProperty("incomplete");
  });

  test("no longer says that an operator is needed once what it was about is resolved", async () => {
    const number = "PARTS-2";
    const saved = async () => (await rig.ledger.records.findSale(BUSINESS, number))?.record;
    rig.simulator.setAuthority(number, [{ do: "accept", afterMs: 3_600_000 }]);
    const lines = items.map(({ id }) => ({ itemId: id, quantity: 2, unitPrice: 100 }));
    const sale = { traderInvoiceNumber: number, lines, stock: "off", refundWindow: "0" } as const;
    const { workflowId } = await rig.starter.startSale(sale);
    await expect.poll(async () => (await saved())?.document?.lines.length).toBe(LINES);
    const [document] = rig.simulator.documents(number);
    const fault = { operation: "readSale", when: "before", kind: "status", status: 404 } as const;
    const body = { error: { code: "not_found", message: "no such sale" } };
    const isBack = rig.simulator.inject({ ...fault, body, match: { saleId: document?.id } });
    await expect.poll(async () => (await saved())?.attentions).toMatchObject([{ code: "not-found" }]);
    isBack();
    rig.simulator.setDocumentStatus(document?.id ?? "", "completed");
    await rig.starter.retry({ invoice: number }, { note: "it is there" });
    await rig.client.workflow.getHandle(workflowId).result();
    expect(await saved()).toMatchObject({ stage: "completed", attentions: [] });
  });
});
