import { describe, expect, test } from "vitest";

import type { AwaitItemsRequest, ItemsRequest, ItemsResult } from "../../src/contract/index.ts";
import { API_KEY, failureOf, inActivity, serve, type Served, START_MS } from "../test-support/served.ts";

const MINUTE_MS = 60_000;

const asking = (sku: string): ItemsRequest => ({
  connection: "default",
  businessId: "biz_1",
  lines: [{ sku, quantity: 1, unitPrice: 1 }],
});
const read = (
  served: Served,
  sku: string,
  more: Partial<ItemsRequest> = {},
  scheduledAtMs = served.clock.nowMs,
): Promise<ItemsResult> =>
  inActivity(() => served.activities.readItems({ ...asking(sku), ...more }), { scheduledAtMs });
const lists = ({ simulator }: Served) => simulator.calls({ operation: "listItems" }).length;
const addRice = ({ simulator }: Served, more = {}) =>
  simulator.addItem({ id: "item_rice", businessId: "biz_1", sku: "RICE-1", name: "Rice", unitPrice: 1, ...more });

describe("reading items", () => {
  test("resolves the lines", async () => {
    const served = await serve();
    expect(await read(served, "TEA-500")).toMatchObject({ kind: "resolved", items: [{ id: "item_tea" }] });
  });

  test("costs one request for a thousand sales that start together", async () => {
    const served = await serve();
    const results = await Promise.all(Array.from({ length: 1_000 }, () => read(served, "TEA-500")));
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(["resolved"]));
    expect(lists(served)).toBe(1);
  });

  test("costs no request while the catalogue is young, and one when it is too old", async () => {
    const served = await serve();
    await read(served, "TEA-500");
    served.clock.nowMs = START_MS + 10 * MINUTE_MS;
    await read(served, "FLOUR-2");
    expect(lists(served)).toBe(1);
    served.clock.nowMs = START_MS + 10 * MINUTE_MS + 1;
    await read(served, "FLOUR-2");
    expect(lists(served)).toBe(2);
  });

  test("reads the list once more for a name that the young catalogue does not have", async () => {
    const served = await serve();
    await read(served, "TEA-500");
    addRice(served);
    served.clock.nowMs += 1;
    expect(await read(served, "RICE-1")).toMatchObject({ kind: "resolved", items: [{ id: "item_rice" }] });
    expect(lists(served)).toBe(2);
  });

  test("reads the list once for all unknown names that were requested before", async () => {
    const served = await serve();
    await read(served, "TEA-500");
    const askedForAtMs = (served.clock.nowMs += 1);
    for (const sku of ["NO-1", "NO-2", "NO-3"]) {
      expect(await read(served, sku, {}, askedForAtMs)).toMatchObject({ kind: "unknown" });
      served.clock.nowMs += 300;
    }
    expect(lists(served)).toBe(2);
    await read(served, "NO-4");
    expect(lists(served)).toBe(3);
  });

  test("says which name is unknown after one read of the list", async () => {
    const served = await serve();
    expect(await read(served, "RICE-1")).toEqual({
      kind: "unknown",
      unknown: [{ line: 0, reason: 'no item has sku "RICE-1"' }],
      items: [],
    });
    expect(lists(served)).toBe(1);
  });

  test("uses no catalogue that is older than the caller allows", async () => {
    const served = await serve();
    await read(served, "TEA-500");
    served.clock.nowMs += 1;
    await read(served, "TEA-500", { notOlderThanMs: served.clock.nowMs });
    expect(lists(served)).toBe(2);
  });

  test("is answered although the caller's clock is ahead", async () => {
    const served = await serve();
    expect(await read(served, "TEA-500", { notOlderThanMs: START_MS + MINUTE_MS })).toMatchObject({ kind: "resolved" });
  });

  test("is tried again by all callers whose shared request failed, with a new request", async () => {
    const served = await serve();
    served.simulator.inject({ operation: "listItems", when: "before", kind: "status", status: 503, times: 1 });
    const both = await Promise.all([1, 2].map(() => failureOf(() => served.activities.readItems(asking("TEA-500")))));
    expect(both).toMatchObject([
      { type: "Transient", retryable: true },
      { type: "Transient", retryable: true },
    ]);
    expect(lists(served)).toBe(1);
    expect(await read(served, "TEA-500")).toMatchObject({ kind: "resolved" });
  });

  test("is deferred by the quota, for no less than Retry-After", async () => {
    const served = await serve();
    served.simulator.inject({ operation: "listItems", when: "before", kind: "rate-limit", retryAfterSeconds: 19 });
    expect(await failureOf(() => served.activities.readItems(asking("TEA-500")))).toMatchObject({
      type: "Deferred",
      benign: true,
      pauseMs: 19_000,
    });
  });

  test("parks on the key that may not read the catalogue", async () => {
    const served = await serve();
    served.simulator.setKey(API_KEY, { scopes: ["sales:write"] });
    expect(await read(served, "TEA-500")).toMatchObject({
      kind: "refused",
      attention: "credentials",
      message: expect.stringContaining("catalog:read"),
    });
  });
});

describe("the wait for items", () => {
  const wait = (served: Served, sku: string, until: AwaitItemsRequest["until"], ageMs = 0) =>
    [
      () => served.activities.awaitItems({ ...asking(sku), until, sinceMs: START_MS }),
      { scheduledAtMs: START_MS + ageMs },
    ] as const;

  test.each([
    ["known", "RICE-1"],
    ["registered", "RICE-1"],
    ["registered", "SOAP-1"],
  ] as const)("until they are %s goes on as a benign failure (%s)", async (until, sku) => {
    const served = await serve();
    expect(await failureOf(...wait(served, sku, until))).toMatchObject({
      type: "StillWaiting",
      retryable: true,
      benign: true,
      message: `Still waiting; each attempt is one look. The items are not ${until} yet.`,
    });
  });

  test("until they are known ends when the items are listed, registered or not", async () => {
    const served = await serve();
    addRice(served, { registrationStatus: "PENDING" });
    expect(await inActivity(...wait(served, "RICE-1", "known"))).toMatchObject({ kind: "resolved" });
  });

  test("until they are registered ends when they show as registered", async () => {
    const served = await serve();
    served.simulator.updateItem("item_new", { registrationStatus: "REGISTERED" });
    expect(await inActivity(...wait(served, "SOAP-1", "registered"))).toMatchObject({ kind: "resolved" });
  });

  test("treats an unknown registration status as not registered", async () => {
    const served = await serve();
    served.simulator.updateItem("item_new", { registrationStatus: "IN_REVIEW" });
    expect(await failureOf(...wait(served, "SOAP-1", "registered"))).toMatchObject({ type: "StillWaiting" });
  });

  test("pauses longer after each read", async () => {
    const served = await serve();
    served.dice.next = 0.5;
    const pauses: number[] = [];
    for (const ageMs of [0, 2 * MINUTE_MS, 60 * MINUTE_MS, 2 * 24 * 60 * MINUTE_MS]) {
      served.clock.nowMs = START_MS + ageMs;
      pauses.push((await failureOf(...wait(served, "RICE-1", "known", ageMs))).pauseMs);
    }
    expect(pauses).toEqual([5_000, 20_000, 10 * MINUTE_MS, 2 * 60 * MINUTE_MS]);
  });

  test("costs one request per half pause for all who wait", async () => {
    const served = await serve();
    const waiting = () => Promise.all([1, 2, 3].map(() => failureOf(...wait(served, "RICE-1", "known"))));
    await waiting();
    served.clock.nowMs += 1_000;
    await waiting();
    expect(lists(served)).toBe(1);
    served.clock.nowMs += 5_000;
    await waiting();
    expect(lists(served)).toBe(2);
  });

  test("ends with a refusal where the key is refused", async () => {
    const served = await serve();
    served.simulator.setApplication("simulator", { suspended: true });
    expect(await inActivity(...wait(served, "RICE-1", "known"))).toMatchObject({ attention: "credentials" });
  });
});
