import { describe, expect, test } from "vitest";
import type { AuthorityStep, Fault, Simulator } from "./index.ts";
import { callbackReceiver } from "./test-support/callback-receiver.ts";
import { call, saleId, simulatorUnderTest, teaSale } from "./test-support/simulator-under-test.ts";

const ACCEPT_LATER: AuthorityStep = { do: "accept", afterMs: 5 };

/** A sale with a callback, under one fault that strikes every time. */
async function sold(
  fault: Pick<Fault, "kind"> & Partial<Fault>,
  steps: AuthorityStep[] = [ACCEPT_LATER],
): Promise<{ simulator: Simulator; id: string; received: unknown[] }> {
  const simulator = await simulatorUnderTest();
  const receiver = await callbackReceiver();
  simulator.inject({ operation: "callback", when: "before", ...fault });
  simulator.setAuthority("INV-1", steps);
  const body = teaSale("INV-1", { callbackUrl: receiver.url });
  const id = saleId(await call(simulator, "POST", "/v1/sales", { body }));
  return { simulator, id, received: receiver.received };
}

describe("a callback that is", () => {
  test("lost never arrives, and the service takes it for delivered", async () => {
    const { simulator, id, received } = await sold({ kind: "lost", times: 1 });
    expect((await simulator.callbackSettled(id)).callback).toMatchObject({ status: "delivered", attempts: 1 });
    expect(received).toEqual([]);
    expect(simulator.books()).toMatchObject({
      callbacks: [{ saleId: id, event: "sale.completed", fault: "lost", responseStatus: 200 }],
      faults: { byKind: { lost: 1 }, active: [] },
    });
    simulator.redeliver(id);
    await simulator.callbackSettled(id);
    expect(received).toEqual([{ event: "sale.completed", saleId: id }]);
  });

  test("early comes while the document is in flight, and none comes with its outcome", async () => {
    const { simulator, id, received } = await sold({ kind: "early" }, [{ do: "down" }]);
    const settled = await simulator.callbackSettled(id);
    expect(settled).toMatchObject({ status: "pending", receipt: null, callback: { status: "delivered" } });
    expect(received).toEqual([{ event: "sale.completed", saleId: id }]);
    simulator.setDocumentStatus(id, "completed");
    await simulator.callbackSettled(id);
    expect(simulator.books().callbacks).toMatchObject([{ fault: "early", responseStatus: 204 }]);
  });

  test("doubled arrives twice, and the service records one delivery", async () => {
    const { simulator, id, received } = await sold({ kind: "doubled" });
    await simulator.until(() => simulator.books().callbacks.filter((sent) => sent.responseStatus === 204).length === 2);
    expect(received).toEqual([
      { event: "sale.completed", saleId: id },
      { event: "sale.completed", saleId: id },
    ]);
    expect((await simulator.callbackSettled(id)).callback).toMatchObject({ attempts: 1 });
    expect(simulator.books().faults.byKind).toEqual({ doubled: 1 });
  });

  test("out of order is followed by the older failure", async () => {
    const { simulator, received } = await sold({ kind: "out-of-order" }, [
      { do: "reject", reason: "No", afterMs: 5 },
      ACCEPT_LATER,
    ]);
    const [document] = simulator.documents("INV-1");
    const id = document?.id ?? "";
    await simulator.callbackSettled(id);
    await call(simulator, "POST", `/v1/sales/${id}/retry`);
    await simulator.until(() => simulator.books().callbacks.filter((sent) => sent.responseStatus === 204).length === 3);
    expect(received).toMatchObject([{ event: "sale.failed" }, { event: "sale.completed" }, { event: "sale.failed" }]);
    expect((await simulator.callbackSettled(id)).callback).toMatchObject({ event: "sale.completed" });
  });

  test("forged comes once with an invalid token and once with false content, besides the genuine one", async () => {
    const { simulator, id, received } = await sold({ kind: "forged" }, [{ do: "down" }]);
    await simulator.until(() => simulator.books().callbacks.filter((sent) => sent.responseStatus === 204).length === 2);
    const lie = { event: "sale.completed", sale: { status: "completed", receipt: { cuInvoiceNo: "FORGED" } } };
    expect(received).toMatchObject([lie, lie]);
    const { callback } = simulator.documents("INV-1")[0] ?? {};
    expect(callback).toMatchObject({ status: "awaiting_outcome", attempts: 0 });
    const urls = simulator.books().callbacks.map(({ url }) => url);
    expect(urls.filter((url) => url === callback?.url)).toHaveLength(1);
    expect(new Set(urls.map((url) => new URL(url).host)).size).toBe(1);
    simulator.setDocumentStatus(id, "completed");
    await simulator.callbackSettled(id);
    expect(received[2]).toEqual({ event: "sale.completed", saleId: id });
  });

  test("late comes after its delay, and until then the service says that it is pending", async () => {
    const { simulator, id, received } = await sold({ kind: "late", delayMs: 60 });
    await simulator.settled(id);
    expect(received).toEqual([]);
    expect((await simulator.callbackSettled(id)).callback).toMatchObject({ status: "delivered", attempts: 1 });
    expect(received).toHaveLength(1);
  });

  test("late comes a day later by default", async () => {
    const { simulator, id } = await sold({ kind: "late" });
    await simulator.settled(id);
    await simulator.until(() => simulator.books().faults.byKind["late"] === 1);
    const { callback } = simulator.documents("INV-1")[0] ?? {};
    expect(callback?.status).toBe("pending");
    expect(Date.parse(callback?.nextAttemptAt ?? "") - Date.now()).toBeGreaterThan(86_000_000);
  });
});

describe("the faults of callbacks", () => {
  test("hit the callbacks that they match, and none of the API's calls", async () => {
    const { simulator, id, received } = await sold({ kind: "lost", match: { invoice: "INV-2" } });
    await simulator.callbackSettled(id);
    expect(received).toHaveLength(1);
    expect(simulator.books().faults.byKind).toEqual({});
    simulator.inject({ operation: "*", when: "before", kind: "status", status: 502 });
    simulator.redeliver(id);
    await simulator.callbackSettled(id);
    expect(received).toHaveLength(2);
  });

  test("that do not exist are refused by name", async () => {
    const simulator = await simulatorUnderTest();
    const at = { operation: "callback", when: "before" } as const;
    expect(() => simulator.inject({ ...at, kind: "drop" })).toThrow(/fault\.kind: of "callback" must be lost, early/);
    expect(() => simulator.inject({ ...at, when: "after", kind: "lost" })).toThrow(/fault\.when/);
    expect(() => simulator.inject({ ...at, operation: "readSale", kind: "lost" })).toThrow(/fault\.kind: .*drop, slow/);
  });
});
