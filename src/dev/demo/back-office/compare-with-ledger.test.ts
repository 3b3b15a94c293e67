import { beforeAll, describe, expect, it } from "vitest";
import { closedDay, DAY } from "../test-support/closed-day.ts";
import type { LedgerContents, ServiceBooks } from "./books-and-ledger.ts";
import { compareWithLedger } from "./compare-with-ledger.ts";

/** As in the two shapes, but to be spoiled. */
type Loose<T> = T extends readonly (infer E)[]
  ? Loose<E>[]
  : T extends object
    ? { -readonly [K in keyof T]: Loose<T[K]> }
    : T;

describe("the comparison of the ledger with the services' books", () => {
  let right: { books: ServiceBooks; ledger: LedgerContents };
  beforeAll(async () => {
    right = await closedDay();
  });

  /** The differences after one thing was made wrong. */
  function differences(spoil: (ledger: Loose<LedgerContents>, books: Loose<ServiceBooks>) => void): string[] {
    const { books, ledger } = structuredClone(right) as { books: Loose<ServiceBooks>; ledger: Loose<LedgerContents> };
    spoil(ledger, books);
    return compareWithLedger(books as ServiceBooks, ledger as LedgerContents, DAY);
  }

  it("finds no difference where both agree", () => {
    expect(differences(() => undefined)).toEqual([]);
  });

  it("names a purchase that is missing, one that the books do not have, and one that differs", () => {
    const found = differences(({ purchases }) => {
      const [first, second] = purchases.splice(0, 2);
      if (first) purchases.push({ ...first, entry: { ...first.entry, status: "rejected" } });
      if (second) purchases.push({ ...second, entry: { ...second.entry, id: "purchase_x" } });
    });
    expect(found).toEqual([
      "the purchase purchase_1 is another in the ledger than at the service",
      "the purchase purchase_2 is not in the ledger",
      "the ledger has the purchase purchase_x, of which the service knows nothing",
    ]);
  });

  it("leaves out purchases that the ledger marks as missing", () => {
    const found = differences(({ purchases: [first] }) => {
      if (first) first.missingSinceMs = 1;
    });
    expect(found).toEqual(["the purchase purchase_1 is not in the ledger"]);
  });

  it("names a purchase that only the tax authority holds", () => {
    const found = differences(({ purchases }, books) => {
      purchases.pop();
      for (const purchase of books.purchases.slice(-1)) purchase.stored = false;
    });
    expect(found).toEqual(["the purchase purchase_7 was not pulled"]);
  });

  it("names a bill payment whose status differs", () => {
    const found = differences(({ billPayments: [first] }) => {
      if (first) first.syncStatus = "failed";
    });
    expect(found).toEqual(["the bill payment bill_payment_1 is another in the ledger than at the service"]);
  });

  it("names an item whose outcome in the ledger differs, and one that was registered twice", () => {
    const found = differences(({ items }, books) => {
      for (const item of items) if (item.item === "item_leso") item.kind = "registered";
      for (const item of books.items) if (item.id === "item_kahawa") item.registrationAttempts = 2;
    });
    expect(found).toEqual([
      "the registration of item_kahawa was asked for 2 times",
      "the registration of item_leso is another in the ledger than at the service",
    ]);
  });

  it("names a batch that was processed twice, and one that the ledger does not know", () => {
    const found = differences((_ledger, { syncBatches }) => {
      for (const batch of syncBatches) batch.processed += 1;
    });
    expect(found).toEqual([
      "the sync batch batch_2026_11_20 was processed 2 times",
      "the sync batch batch_2026_11_21 is not in the ledger",
    ]);
  });

  it("names totals that are a cent off", () => {
    const found = differences(({ report }) => {
      if (report) report.net.total = "430.01";
    });
    expect(found).toEqual([expect.stringMatching(/^the report says of net \{.*"total":430\.01.*"total":430,/)]);
  });

  it("names a report that is missing", () => {
    const found = differences((ledger) => {
      ledger.report = undefined;
    });
    expect(found).toEqual(["the ledger has no report of the business"]);
  });
});
