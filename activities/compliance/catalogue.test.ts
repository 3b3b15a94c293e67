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
      asked.push({ businessId, answer: (items) => resolve({ items, odd: [] }), fail });
    });
  return { asked, clock, catalogue: new Catalogue(read, () => clock.nowMs) };
}

describe("the catalogue", () => {
  test("asks once for a thousand who ask together", async () => {
    const { asked, catalogue } = catalogueByHand();
    const answers = Array.from({ length: 1_000 }, () => catalogue.since("biz_1", 0));
    expect(asked).toHaveLength(1);
    asked[0]?.answer([item("tea")]);
    for (const items of await Promise.all(answers)) expect(items).toEqual([item("tea")]);
  });

  test("knows nothing before it was asked for", () => {
    expect(catalogueByHand().catalogue.known("biz_1", 0)).toBeUndefined();
  });

  test("asks no more while what it knows is young enough", async () => {
    const { asked, catalogue } = catalogueByHand();
    const first = catalogue.since("biz_1", 0);
    asked[0]?.answer([item("tea")]);
    await first;
    expect(await catalogue.since("biz_1", 1_000)).toEqual([item("tea")]);
    expect(asked).toHaveLength(1);
  });

  test("asks again for what is to be younger, and does not count the answer's time but the request's", async () => {
    const { asked, clock, catalogue } = catalogueByHand();
    const first = catalogue.since("biz_1", 0);
    clock.nowMs = 5_000;
    asked[0]?.answer([item("tea")]);
    await first;
    expect(catalogue.known("biz_1", 1_001)).toBeUndefined();
    void catalogue.since("biz_1", 1_001);
    expect(asked).toHaveLength(2);
  });

  test("does not give a request that left too early to one who asks for what is younger", async () => {
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

  test("keeps businesses apart", async () => {
    const { asked, catalogue } = catalogueByHand();
    const both = Promise.all([catalogue.since("biz_1", 0), catalogue.since("biz_2", 0), catalogue.since(undefined, 0)]);
    expect(asked.map(({ businessId }) => businessId)).toEqual(["biz_1", "biz_2", undefined]);
    asked.forEach(({ answer }, i) => answer([item(`item_${i}`)]));
    expect(await both).toEqual([[item("item_0")], [item("item_1")], [item("item_2")]]);
  });

  test("gives its error to all who wait, and asks anew for the next", async () => {
    const { asked, catalogue } = catalogueByHand();
    const waiting = Promise.allSettled([catalogue.since("biz_1", 0), catalogue.since("biz_1", 0)]);
    asked[0]?.fail(new Error("down"));
    expect((await waiting).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    const next = catalogue.since("biz_1", 0);
    expect(asked).toHaveLength(2);
    asked[1]?.answer([]);
    expect(await next).toEqual([]);
  });

  test("keeps what it knows through an error", async () => {
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

  test("learns from an answer that shows an item", async () => {
    const { asked, catalogue } = catalogueByHand();
    const first = catalogue.since("biz_1", 0);
    asked[0]?.answer([item("tea"), item("flour")]);
    await first;
    catalogue.learn("biz_1", item("tea", "REGISTERED"));
    expect(catalogue.known("biz_1", 0)).toEqual([item("tea", "REGISTERED"), item("flour")]);
  });

  test("does not unlearn it by a list that was asked for before", async () => {
    const { asked, catalogue } = catalogueByHand();
    const first = catalogue.since("biz_1", 0);
    catalogue.learn("biz_1", item("tea", "REGISTERED"));
    asked[0]?.answer([item("tea"), item("flour")]);
    expect(await first).toEqual([item("tea", "REGISTERED"), item("flour")]);
  });

  test("gives out a list of its own each time", async () => {
    const { asked, catalogue } = catalogueByHand();
    const first = catalogue.since("biz_1", 0);
    asked[0]?.answer([item("tea")]);
    (await first).pop();
    expect(catalogue.known("biz_1", 0)).toEqual([item("tea")]);
  });
});
