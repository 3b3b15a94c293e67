import { describe, expect, test } from "vitest";

import type { Item } from "../../src/contract/index.ts";
import { Catalogue, type ItemsList } from "./catalogue.ts";

const item = (id: string, registrationStatus = "PENDING"): Item => ({ id, stockTracked: true, registrationStatus });

interface Asked {
  businessId: string | undefined;
  answer: (items: Item[]) => void;
  fail: (error: Error) => void;
}

/** A catalogue whose requests are answered by hand. */
function catalogueByHand() {
  const asked: Asked[] = [];
  const clock = { nowMs: 1_000 };
  const read = (businessId: string | undefined) =>
    new Promise<ItemsList>((resolve, fail) => {
      asked.push({ businessId, answer: (items) => resolve({ items, odd: [], bytes: 100 }), fail });
    });
  return { asked, clock, catalogue: new Catalogue(read, () => clock.nowMs) };
}

describe("the catalogue", () => {
  test("sends one request for a thousand callers at once", async () => {
    const { asked, catalogue } = catalogueByHand();
    const answers = Array.from({ length: 1_000 }, () => catalogue.since("biz_1", 0));
    expect(asked).toHaveLength(1);
    asked[0]?.answer([item("tea")]);
    for (const items of await Promise.all(answers)) expect(items).toEqual([item("tea")]);
  });

  test("lets the list go that was used longest ago, where together they are too large", async () => {
    const lists = { biz_1: 20, biz_2: 10, biz_3: 10, biz_4: 60 };
    const asked: string[] = [];
    const read = (businessId = "") => {
      asked.push(businessId);
      const bytes = lists[businessId as keyof typeof lists] * 1024 * 1024;
      return Promise.resolve({ items: [item(businessId)], odd: [], bytes });
    };
    const catalogue = new Catalogue(read, () => 1_000);
    for (const businessId of ["biz_1", "biz_2", "biz_1", "biz_3"]) await catalogue.since(businessId, 0);
    expect(["biz_1", "biz_2", "biz_3"].map((businessId) => catalogue.known(businessId, 0))).toEqual([
      [item("biz_1")],
      undefined,
      [item("biz_3")],
    ]);
    await catalogue.since("biz_4", 0);
    expect(["biz_1", "biz_3", "biz_4"].map((businessId) => catalogue.known(businessId, 0))).toEqual([
      undefined,
      undefined,
      [item("biz_4")],
    ]);
    expect(await catalogue.since("biz_2", 0)).toEqual([item("biz_2")]);
    expect(asked).toEqual(["biz_1", "biz_2", "biz_3", "biz_4", "biz_2"]);
  });

  test("is empty before its first request", () => {
    expect(catalogueByHand().catalogue.known("biz_1", 0)).toBeUndefined();
  });

  test("sends no request while its list is young enough", async () => {
    const { asked, catalogue } = catalogueByHand();
    const first = catalogue.since("biz_1", 0);
    asked[0]?.answer([item("tea")]);
    await first;
    expect(await catalogue.since("biz_1", 1_000)).toEqual([item("tea")]);
    expect(asked).toHaveLength(1);
  });

  test("sends another request for a caller who needs a younger list, whose age counts from the request and not from the answer", async () => {
    const { asked, clock, catalogue } = catalogueByHand();
    const first = catalogue.since("biz_1", 0);
    clock.nowMs = 5_000;
    asked[0]?.answer([item("tea")]);
    await first;
    expect(catalogue.known("biz_1", 1_001)).toBeUndefined();
    void catalogue.since("biz_1", 1_001);
    expect(asked).toHaveLength(2);
  });

  test("does not share a request that left too early with a caller who needs a younger list", async () => {
    const { asked, clock, catalogue } = catalogueByHand();
    const old = catalogue.since("biz_1", 0);
    clock.nowMs = 2_000;
    const young = catalogue.since("biz_1", 1_500);
    expect(asked).toHaveLength(2);
    asked[0]?.answer([item("tea")]);
    asked[1]?.answer([item("tea"), item("flour")]);
    expect(await old).toHaveLength(1);
    expect(await young).toHaveLength(2);
  });

  test("keeps the younger of two answers, whichever comes last", async () => {
    const { asked, clock, catalogue } = catalogueByHand();
    const old = catalogue.since("biz_1", 0);
    clock.nowMs = 2_000;
    const young = catalogue.since("biz_1", 1_500);
    asked[1]?.answer([item("flour")]);
    await young;
    asked[0]?.answer([item("tea")]);
    await old;
    expect(catalogue.known("biz_1", 0)).toEqual([item("flour")]);
  });

  test("keeps a list for each business", async () => {
    const { asked, catalogue } = catalogueByHand();
    const both = Promise.all([catalogue.since("biz_1", 0), catalogue.since("biz_2", 0), catalogue.since(undefined, 0)]);
    expect(asked.map(({ businessId }) => businessId)).toEqual(["biz_1", "biz_2", undefined]);
    asked.forEach(({ answer }, i) => answer([item(`item_${i}`)]));
    expect(await both).toEqual([[item("item_0")], [item("item_1")], [item("item_2")]]);
  });

  test("returns its error to all waiting callers, and sends a new request for the next one", async () => {
    const { asked, catalogue } = catalogueByHand();
    const waiting = Promise.allSettled([catalogue.since("biz_1", 0), catalogue.since("biz_1", 0)]);
    asked[0]?.fail(new Error("down"));
    expect((await waiting).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    const next = catalogue.since("biz_1", 0);
    expect(asked).toHaveLength(2);
    asked[1]?.answer([]);
    expect(await next).toEqual([]);
  });

  test("keeps its list when a request fails", async () => {
    const { asked, clock, catalogue } = catalogueByHand();
    const first = catalogue.since("biz_1", 0);
    asked[0]?.answer([item("tea")]);
    await first;
    clock.nowMs = 9_000;
    const second = catalogue.since("biz_1", 9_000);
    asked[1]?.fail(new Error("down"));
    await expect(second).rejects.toThrow("down");
    expect(catalogue.known("biz_1", 0)).toEqual([item("tea")]);
  });

  test("takes in an item that another answer shows", async () => {
    const { asked, catalogue } = catalogueByHand();
    const first = catalogue.since("biz_1", 0);
    asked[0]?.answer([item("tea"), item("flour")]);
    await first;
    catalogue.learn("biz_1", item("tea", "REGISTERED"));
    expect(catalogue.known("biz_1", 0)).toEqual([item("tea", "REGISTERED"), item("flour")]);
  });

  test("keeps an item that was learned while a list that lacks it was read", async () => {
    const { asked, catalogue } = catalogueByHand();
    const first = catalogue.since("biz_1", 0);
    catalogue.learn("biz_1", item("sugar", "REGISTERED"));
    asked[0]?.answer([item("tea")]);
    expect(await first).toEqual([item("tea"), item("sugar", "REGISTERED")]);
    expect(catalogue.known("biz_1", 0)).toEqual([item("tea"), item("sugar", "REGISTERED")]);
  });

  test("returns a new copy of its list each time", async () => {
    const { asked, catalogue } = catalogueByHand();
    const first = catalogue.since("biz_1", 0);
    asked[0]?.answer([item("tea")]);
    (await first).pop();
    expect(catalogue.known("biz_1", 0)).toEqual([item("tea")]);
  });
});
