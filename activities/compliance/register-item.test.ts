import { describe, expect, test } from "vitest";

import type { RegisterRequest, RegisterResult } from "../../src/contract/index.ts";
import type { Fault } from "../../src/dev/simulator/index.ts";
import { API_KEY, failureOf, inActivity, serve, type Served } from "../test-support/served.ts";

const at = (fault: Omit<Fault, "operation">): Fault => ({ operation: "registerItem", ...fault });
const asking = (itemId: string): RegisterRequest => ({ connection: "default", businessId: "biz_1", itemId });
const register = (served: Served, itemId: string, more: Partial<RegisterRequest> = {}): Promise<RegisterResult> =>
  inActivity(() => served.activities.registerItem({ ...asking(itemId), ...more }));
const registrations = ({ simulator }: Served) => simulator.calls({ operation: "registerItem" }).length;
const readSoap = (served: Served) =>
  inActivity(() =>
    served.activities.readItems({
      connection: "default",
      businessId: "biz_1",
      lines: [{ itemId: "item_new", quantity: 1, unitPrice: 1 }],
    }),
  );

describe("the registration of an item", () => {
  test("is done by a 200 that shows it registered", async () => {
    const served = await serve();
    expect(await register(served, "item_new")).toMatchObject({
      kind: "registered",
      item: { id: "item_new", stockTracked: true, registrationStatus: "REGISTERED" },
    });
  });

  test("updates the catalogue, which need not be read again", async () => {
    const served = await serve();
    expect(await readSoap(served)).toMatchObject({ items: [{ registrationStatus: "PENDING" }] });
    await register(served, "item_new");
    expect(await readSoap(served)).toMatchObject({ items: [{ registrationStatus: "REGISTERED" }] });
    expect(served.simulator.calls({ operation: "listItems" })).toHaveLength(1);
  });

  test("costs no request where the catalogue shows it registered", async () => {
    const served = await serve();
    await readSoap(served);
    expect(await register(served, "item_tea")).toMatchObject({ kind: "registered", item: { id: "item_tea" } });
    expect(registrations(served)).toBe(0);
  });

  test("is one request for all callers at once, and another for the next caller", async () => {
    const served = await serve();
    served.simulator.updateItem("item_new", { registration: { reject: "Not now" } });
    const results = await Promise.all(Array.from({ length: 50 }, () => register(served, "item_new")));
    expect(registrations(served)).toBe(1);
    expect(new Set(results)).toHaveProperty("size", 1);
    await register(served, "item_new");
    expect(registrations(served)).toBe(2);
  });

  test("is a request for each item and each branch", async () => {
    const served = await serve();
    served.simulator.updateItem("item_new", { registration: { reject: "Not now" } });
    await Promise.all([
      register(served, "item_new"),
      register(served, "item_new", { branch: { id: "branch_2" } }),
      register(served, "item_incomplete"),
    ]);
    expect(registrations(served)).toBe(3);
  });

  test("fails for all callers at once where the quota is used up", async () => {
    const served = await serve();
    served.simulator.inject(at({ when: "before", kind: "rate-limit", retryAfterSeconds: 29 }));
    const all = await Promise.all(
      [1, 2].map(() => failureOf(() => served.activities.registerItem(asking("item_new")))),
    );
    expect(all).toMatchObject([{ type: "Deferred" }, { type: "Deferred", benign: true, pauseMs: 29_000 }]);
    expect(registrations(served)).toBe(1);
  });

  test("needs data where the 422 shows what is missing", async () => {
    const served = await serve();
    expect(await register(served, "item_incomplete")).toMatchObject({
      kind: "needs-data",
      item: { id: "item_incomplete", needs: { classificationMapping: true } },
    });
  });

  test("that needs data is not requested again for a while, except by an operator's retry", async () => {
    const served = await serve();
    const first = await register(served, "item_incomplete");
    served.clock.nowMs += 10_000;
    expect(await register(served, "item_incomplete")).toEqual(first);
    expect(registrations(served)).toBe(1);
    const retriedAtMs = served.clock.nowMs;
    await inActivity(() => served.activities.registerItem({ ...asking("item_incomplete"), retriedAtMs }));
    expect(registrations(served)).toBe(2);
    served.clock.nowMs += 30_000;
    await register(served, "item_incomplete");
    expect(registrations(served)).toBe(3);
  });

  test("that needs data is requested again once a later list shows that nothing is missing", async () => {
    const served = await serve();
    await register(served, "item_incomplete");
    served.clock.nowMs += 1_000;
    served.simulator.updateItem("item_incomplete", { needs: { classificationMapping: false } });
    const lines = [{ itemId: "item_incomplete", quantity: 1, unitPrice: 75 }];
    const look = { connection: "default", businessId: "biz_1", lines, notOlderThanMs: served.clock.nowMs };
    await inActivity(() => served.activities.readItems(look));
    expect(await register(served, "item_incomplete")).toMatchObject({ kind: "registered" });
  });

  test("is rejected where the 422 shows that nothing is missing", async () => {
    const served = await serve();
    served.simulator.updateItem("item_new", { registration: { reject: "Classification is closed" } });
    expect(await register(served, "item_new")).toMatchObject({
      kind: "refused",
      attention: "item-rejected",
      status: 422,
      message: expect.stringContaining("Classification is closed"),
    });
  });

  test("is done by a 422 whose item shows it registered", async () => {
    const served = await serve();
    const item = { id: "item_new", stockTracked: true, registrationStatus: "REGISTERED", needs: null };
    const body = { error: { code: "already_registered", message: "It is registered", item } };
    served.simulator.inject(at({ when: "before", kind: "status", status: 422, body }));
    expect(await register(served, "item_new")).toMatchObject({ kind: "registered", item: { id: "item_new" } });
  });

  test.each<[string, Omit<Fault, "operation">]>([
    ["a 500", { when: "before", kind: "status", status: 500 }],
    ["a 503 after it was processed", { when: "after", kind: "status", status: 503 }],
    ["a connection that breaks before it was processed", { when: "before", kind: "drop" }],
    ["a connection that breaks after it was processed", { when: "after", kind: "drop" }],
    ["half a body", { when: "after", kind: "half-body" }],
    ["an answer of wrong types", { when: "after", kind: "wrong-types" }],
    ["an answer that is slower than the timeout", { when: "after", kind: "slow", delayMs: 60_000 }],
  ])("is unclear after %s, so that the items are read", async (_what, fault) => {
    const served = await serve({ callTimeoutMs: fault.kind === "slow" ? 300 : 5_000 });
    served.simulator.inject(at(fault));
    expect(await register(served, "item_new")).toMatchObject({ kind: "converging", message: expect.any(String) });
    expect(registrations(served)).toBe(1);
  });

  test("is unclear after a 200 that does not show it registered, so that the items are read", async () => {
    const served = await serve();
    const item = { id: "item_new", stockTracked: true, registrationStatus: "SUBMITTED" };
    served.simulator.inject(at({ when: "before", kind: "status", status: 200, body: { data: { item } } }));
    expect(await register(served, "item_new")).toMatchObject({ kind: "converging" });
  });

  test("parks on the key after a 401", async () => {
    const served = await serve();
    served.simulator.setApplication("simulator", { suspended: true });
    expect(await register(served, "item_new")).toMatchObject({
      kind: "refused",
      attention: "credentials",
      status: 401,
    });
  });

  test("parks on the key after a 403, and names the scope that it needs", async () => {
    const served = await serve();
    served.simulator.setKey(API_KEY, { scopes: ["catalog:read"] });
    expect(await register(served, "item_new")).toMatchObject({
      kind: "refused",
      attention: "credentials",
      message: expect.stringContaining("catalog:write"),
    });
  });

  test("parks as not found for an unknown item", async () => {
    const served = await serve();
    expect(await register(served, "item_gone")).toMatchObject({ kind: "refused", attention: "not-found" });
  });

  test("is tried again where no connection could be made", async () => {
    const served = await serve();
    await served.simulator.close();
    expect(await failureOf(() => served.activities.registerItem(asking("item_new")))).toMatchObject({
      type: "NotSent",
      retryable: true,
    });
  });
});
