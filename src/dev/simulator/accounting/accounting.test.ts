import { describe, expect, test } from "vitest";
import type { Simulator } from "../index.ts";
import { type AccountingAnswer, askAccounting as ask } from "../test-support/ask-accounting.ts";
import { callbackReceiver } from "../test-support/callback-receiver.ts";
import { simulatorUnderTest } from "../test-support/simulator-under-test.ts";

const ids = ({ body }: AccountingAnswer): unknown[] => (body["data"] as { id: unknown }[]).map(({ id }) => id);

describe("a key", () => {
  test.each([
    ["missing", undefined],
    ["of somebody else", "sk_development_other"],
  ])("that is %s is refused", async (_how, key) => {
    const simulator = await simulatorUnderTest();
    expect(await ask(simulator, "/companies", { headers: { "x-api-key": key } })).toMatchObject({ status: 401 });
  });

  test("of an application that is not active, or not authorized, is refused", async () => {
    const simulator = await simulatorUnderTest();
    simulator.accounting.setApplication("simulator", { active: false });
    expect((await ask(simulator, "/companies")).status).toBe(401);
    simulator.accounting.setApplication("simulator", { active: true, denied: ["listBillPayments"] });
    expect((await ask(simulator, "/bill-payments")).status).toBe(403);
    expect((await ask(simulator, "/companies")).body).toEqual({ data: [{ id: "company_1", name: "Duka la Mfano" }] });
    simulator.accounting.setApplication("simulator", { denied: [], companies: ["company_2"] });
    expect((await ask(simulator, "/companies")).body).toEqual({ data: [] });
    expect((await ask(simulator, "/sync/batches/batch_1/process", { method: "POST" })).status).toBe(403);
  });
});

describe("bill payments", () => {
  test("come in pages, with the envelope that the document shows", async () => {
    const simulator = await simulatorUnderTest({ scenario: { accounting: { generatedBillPayments: 45 } } });
    const page = await ask(simulator, "/bill-payments?page=2&limit=20&sortBy=createdAt&sortDirection=asc");
    expect(page.body).toMatchObject({
      total: 45,
      page: 2,
      limit: 20,
      totalPages: 3,
      hasNextPage: true,
      hasPreviousPage: true,
    });
    expect(ids(page)).toHaveLength(20);
    expect(ids(page)[0]).toBe("bp_0000021");
    const last = await ask(simulator, "/bill-payments?page=3&limit=20&sortBy=createdAt&sortDirection=desc");
    expect(ids(last)).toEqual(["bp_0000005", "bp_0000004", "bp_0000003", "bp_0000002", "bp_0000001"]);
    expect(last.body).toMatchObject({ hasNextPage: false });
  });

  test.each(["limit=101", "limit=0", "page=0", "status=done", "sortBy=id", "sortDirection=up", "cursor=x"])(
    "with %s are refused",
    async (query) => {
      expect((await ask(await simulatorUnderTest(), `/bill-payments?${query}`)).status).toBe(400);
    },
  );

  test("of a scenario have the status and the method that it says, and the usual ones without", async () => {
    const known = { body: { id: "a", totalAmount: 5 }, facts: { status: "synced", method: "cash" } };
    const scenario = { accounting: { billPayments: [known, { body: { id: "b" } }] } };
    const simulator = await simulatorUnderTest({ scenario });
    expect(simulator.accounting.billPayments()).toMatchObject([
      { body: { id: "a", totalAmount: 5 }, status: "synced", method: "cash", companyId: "company_1" },
      { body: { id: "b" }, status: "pending", method: "bank_transfer" },
    ]);
  });

  test("are found by status and method, which they do not show", async () => {
    const simulator = await simulatorUnderTest();
    simulator.accounting.addBillPayment({ id: "a" }, { status: "failed", method: "cash" });
    simulator.accounting.addBillPayment({ id: "b" }, { status: "failed" });
    simulator.accounting.addBillPayment({ id: "c" }, { status: "synced", method: "cash" });
    const failed = await ask(simulator, "/bill-payments?status=failed&paymentMethod=cash");
    expect(ids(failed)).toEqual(["a"]);
    expect(JSON.stringify(failed.body)).not.toContain("cash");
    simulator.accounting.changeBillPayment("a", {}, { status: "synced" });
    expect(ids(await ask(simulator, "/bill-payments?status=synced&sortBy=createdAt&sortDirection=asc"))).toEqual([
      "a",
      "c",
    ]);
  });

  test("move between pages when they are added, changed or removed", async () => {
    let nowMs = Date.parse("2026-11-21T09:00:00Z");
    const simulator = await simulatorUnderTest({ nowMs: () => (nowMs += 1_000) });
    for (const id of ["a", "b", "c", "d"]) simulator.accounting.addBillPayment({ id });
    const second = async () =>
      ids(await ask(simulator, "/bill-payments?page=2&limit=2&sortBy=updatedAt&sortDirection=desc"));
    expect(await second()).toEqual(["b", "a"]);
    simulator.accounting.changeBillPayment("a", { note: "again" });
    expect(await second()).toEqual(["c", "b"]);
    simulator.accounting.removeBillPayment("d");
    expect(await second()).toEqual(["b"]);
  });

  test("with equal sort fields come in any order, where a test says so", async () => {
    const simulator = await simulatorUnderTest();
    for (let number = 0; number < 30; number++)
      simulator.accounting.addBillPayment({ id: `p${number}`, createdAt: "2026-01-01T00:00:00Z" });
    const list = async () => ids(await ask(simulator, "/bill-payments?limit=100&sortBy=createdAt"));
    expect(await list()).toEqual(await list());
    simulator.accounting.changeSettings({ unstableTies: true });
    expect(await list()).not.toEqual(await list());
  });
});

describe("a sync batch", () => {
  const process = (simulator: Simulator, id: string) =>
    ask(simulator, `/sync/batches/${id}/process`, { method: "POST" });

  test("is processed each time it is asked for, and the books count", async () => {
    const simulator = await simulatorUnderTest();
    expect(await process(simulator, "batch_1")).toMatchObject({
      status: 200,
      body: { message: "The batch was processed." },
    });
    await process(simulator, "batch_1");
    expect(simulator.accounting.syncBatches()).toMatchObject([{ id: "batch_1", processed: 2 }]);
  });

  test("that does not exist, or is refused, is not processed", async () => {
    const simulator = await simulatorUnderTest();
    expect((await process(simulator, "batch_x")).status).toBe(404);
    simulator.accounting.addSyncBatch({ id: "b2", refuse: { status: 409, message: "It is empty" } });
    expect(await process(simulator, "b2")).toMatchObject({ status: 409, body: { message: "It is empty" } });
  });

  test("is hit by faults before or after it is processed", async () => {
    const simulator = await simulatorUnderTest();
    simulator.inject({
      operation: "processSyncBatch",
      when: "before",
      kind: "status",
      status: 502,
      times: 1,
    });
    simulator.inject({
      operation: "processSyncBatch",
      when: "after",
      kind: "drop",
      match: { syncBatchId: "batch_1" },
      times: 1,
    });
    expect((await process(simulator, "batch_1")).status).toBe(502);
    await expect(process(simulator, "batch_1")).rejects.toThrow("fetch failed");
    expect(simulator.accounting.syncBatches()).toMatchObject([{ processed: 1 }]);
    expect(simulator.accounting.calls("processSyncBatch").map(({ status, fault }) => [status, fault])).toEqual([
      [502, "status"],
      [null, "drop"],
    ]);
  });
});

test("a webhook of the simulator has the dialect's names", async () => {
  const receiver = await callbackReceiver();
  const simulator = await simulatorUnderTest({
    nowMs: () => 1_700_000_000_999,
    accountingDialect: {
      webhook: {
        timestampHeader: "X-Timestamp",
        timestampUnit: "s",
        signed: "timestamp.body",
        eventId: "id",
        signaturePrefix: "v1=",
      },
    },
  });
  const webhook = { url: receiver.url, secret: "whsec_development_x", event: { type: "bill_payment.updated" } };
  const sent = await simulator.accounting.sendWebhook(webhook);
  expect(sent).toMatchObject({ responseStatus: 204, payload: '{"id":"evt_1","type":"bill_payment.updated"}' });
  // printf '%s' '1700000000.PAYLOAD' | openssl dgst -sha256 -hmac whsec_development_x -hex
  expect(sent.headers).toMatchObject({
    "X-Signature": "v1=5cd97c13ee8cdfe04ebc76cdab968cca66b6183f8877bae879355b145ef6bc9d",
    "X-Timestamp": "1700000000",
  });
});
