import { describe, expect, test } from "vitest";
import { callbackReceiver } from "./test-support/callback-receiver.ts";
import { at, call, creditNote, saleId, simulatorUnderTest, teaSale } from "./test-support/simulator-under-test.ts";

describe("the result callback", () => {
  test("reports the outcome of a sale that was in flight, once", async () => {
    const simulator = await simulatorUnderTest();
    const receiver = await callbackReceiver();
    simulator.setAuthority("INV-1", [{ do: "accept", afterMs: 5 }]);
    const answer = await call(simulator, "POST", "/v1/sales", {
      body: teaSale("INV-1", { callbackUrl: receiver.url }),
    });
    expect(at(answer.body, "data", "sale", "callback")).toMatchObject({
      status: "awaiting_outcome",
      event: null,
      attempts: 0,
    });
    const settled = await simulator.callbackSettled(saleId(answer));
    expect(settled.callback).toMatchObject({
      status: "delivered",
      event: "sale.completed",
      attempts: 1,
      lastResponseStatus: 204,
      lastError: null,
      nextAttemptAt: null,
    });
    expect(receiver.received).toEqual([{ event: "sale.completed", saleId: saleId(answer) }]);
  });

  test("is sent again until a 2xx answer", async () => {
    const simulator = await simulatorUnderTest({ callbackRetryDelaysMs: [1, 1, 1] });
    const receiver = await callbackReceiver([500, 302, 200]);
    const sale = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1", { callbackUrl: receiver.url }) });
    const settled = await simulator.callbackSettled(saleId(sale));
    expect(settled.callback).toMatchObject({ status: "delivered", attempts: 3, lastResponseStatus: 200 });
    expect(simulator.books().callbacks.map(({ responseStatus }) => responseStatus)).toEqual([500, 302, 200]);
  });

  test("is given up as failed when the attempts are used up", async () => {
    const simulator = await simulatorUnderTest({ callbackRetryDelaysMs: [1] });
    const receiver = await callbackReceiver([503]);
    const sale = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1", { callbackUrl: receiver.url }) });
    const settled = await simulator.callbackSettled(saleId(sale));
    expect(settled.callback).toMatchObject({ status: "failed", attempts: 2, lastError: "HTTP 503", deliveredAt: null });
  });

  test("reports a late rejection as sale.failed and the retried document as sale.completed", async () => {
    const simulator = await simulatorUnderTest();
    const receiver = await callbackReceiver();
    simulator.setAuthority("INV-1", [
      { do: "reject", reason: "No", afterMs: 5 },
      { do: "accept", afterMs: 5 },
    ]);
    const sale = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1", { callbackUrl: receiver.url }) });
    expect(sale.status).toBe(202);
    await simulator.callbackSettled(saleId(sale));
    const retried = await call(simulator, "POST", `/v1/sales/${saleId(sale)}/retry`);
    expect(at(retried.body, "data", "sale", "callback", "status")).toBe("awaiting_outcome");
    await simulator.callbackSettled(saleId(sale));
    expect(receiver.received).toMatchObject([{ event: "sale.failed" }, { event: "sale.completed" }]);
  });

  test("of a credit note names the credit note", async () => {
    const simulator = await simulatorUnderTest();
    const receiver = await callbackReceiver();
    const sale = saleId(await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") }));
    const body = { ...creditNote(sale), callbackUrl: receiver.url };
    const note = saleId(await call(simulator, "POST", "/v1/credit-notes", { body }));
    await simulator.callbackSettled(note);
    expect(receiver.received).toEqual([{ event: "sale.completed", saleId: note }]);
  });

  test("waits while callbacks are paused and can be delivered a second time", async () => {
    const simulator = await simulatorUnderTest();
    const receiver = await callbackReceiver();
    simulator.pauseCallbacks();
    const sale = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1", { callbackUrl: receiver.url }) });
    expect(receiver.received).toEqual([]);
    simulator.resumeCallbacks();
    await simulator.callbackSettled(saleId(sale));
    simulator.redeliver(saleId(sale));
    await simulator.callbackSettled(saleId(sale));
    expect(receiver.received).toHaveLength(2);
  });

  test("about an outcome that a retry has overtaken is not sent any more", async () => {
    const simulator = await simulatorUnderTest();
    const receiver = await callbackReceiver();
    simulator.pauseCallbacks();
    simulator.setAuthority("INV-1", [{ do: "reject", reason: "No" }, { do: "accept" }]);
    const body = teaSale("INV-1", { callbackUrl: receiver.url });
    const sale = saleId(await call(simulator, "POST", "/v1/sales", { body }));
    await call(simulator, "POST", `/v1/sales/${sale}/retry`);
    simulator.resumeCallbacks();
    const { callback } = await simulator.callbackSettled(sale);
    expect(receiver.received).toEqual([{ event: "sale.completed", saleId: sale }]);
    expect(callback).toMatchObject({ event: "sale.completed", attempts: 1 });
  });

  test("that nobody receives records why it was not delivered", async () => {
    const simulator = await simulatorUnderTest({ callbackRetryDelaysMs: [] });
    const body = teaSale("INV-1", { callbackUrl: "http://127.0.0.1:1/" });
    const sale = saleId(await call(simulator, "POST", "/v1/sales", { body }));
    const { callback } = await simulator.callbackSettled(sale);
    expect(callback).toMatchObject({ status: "failed", attempts: 1, lastResponseStatus: null });
    expect(callback?.lastError).toContain("ECONNREFUSED");
  });
});

describe("a cancelled document", () => {
  test("sends no callback", async () => {
    const simulator = await simulatorUnderTest();
    const receiver = await callbackReceiver();
    simulator.setAuthority("INV-1", [{ do: "cancel", afterMs: 1 }]);
    const sale = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1", { callbackUrl: receiver.url }) });
    const settled = await simulator.settled(saleId(sale));
    expect(settled).toMatchObject({ status: "cancelled", receipt: null, callback: { status: "awaiting_outcome" } });
    expect(simulator.books().callbacks).toEqual([]);
  });
});
