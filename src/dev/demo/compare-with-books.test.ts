import { beforeAll, describe, expect, it } from "vitest";
import type { Books } from "../simulator/index.ts";
import { compareWithBooks } from "./compare-with-books.ts";
import type { DemoPlan } from "./plan.ts";
import type { SaleProgress } from "./run-sales.ts";
import { refundedSale } from "./test-support/refunded-sale.ts";

describe("the comparison with the simulator's books", () => {
  let right: { plan: DemoPlan; sales: SaleProgress[]; books: Books };
  beforeAll(async () => {
    right = await refundedSale();
  });

  /** The differences after one thing was made wrong. */
  function differences(spoil: (books: Books, sale: SaleProgress) => Partial<SaleProgress> | void): string[] {
    const books = structuredClone(right.books);
    const sales = right.sales.map((sale) => {
      const own = structuredClone(sale);
      return { ...own, ...spoil(books, own) };
    });
    return compareWithBooks(right.plan, sales, books);
  }

  it("finds no difference where both agree", () => {
    expect(differences(() => undefined)).toEqual([]);
  });

  it("names a sale that ended in another stage, and why", () => {
    expect(differences(() => ({ stage: "rejected", problem: "needs an operator: rejected: no" }))).toEqual([
      "DUKA-1007: ended rejected, expected credited",
      "DUKA-1007: needs an operator: rejected: no",
    ]);
  });

  it("names a document that was issued twice", () => {
    const found = differences(({ documents }) => {
      documents.push(...documents.filter(({ type }) => type === "sale").map((sale) => ({ ...sale, id: "sale_2" })));
    });
    expect(found).toEqual(["DUKA-1007: the books have 2 of its sale, expected one"]);
  });

  it("names a credit note that is missing", () => {
    const found = differences((books) => {
      books.documents = books.documents.filter(({ type }) => type === "sale");
    });
    expect(found).toEqual(["DUKA-1007: the books have 0 of its credit note, expected one"]);
  });

  it("names a credit note that reverses another sale", () => {
    const found = differences(({ documents }) => {
      for (const note of documents.filter(({ type }) => type === "credit_note")) note.originalSaleId = "sale_other";
    });
    expect(found).toEqual([
      expect.stringMatching(/^DUKA-1007: its credit note is .*"originalSaleId":"sale_other".* in the books, expected /),
    ]);
  });

  it("names a document that the authority has not accepted", () => {
    const found = differences(({ documents }) => {
      for (const sale of documents.filter(({ type }) => type === "sale")) sale.status = "failed";
    });
    expect(found).toEqual([
      expect.stringMatching(/^DUKA-1007: its sale is .*"status":"failed".* in the books, expected /),
    ]);
  });

  it("names a receipt and a total that differ from the workflow's", () => {
    const found = differences(({ documents }) => {
      for (const { receipt, totals } of documents.filter(({ type }) => type === "sale")) {
        if (receipt) receipt.signature = "another";
        totals.total = 1;
      }
    });
    expect(found).toEqual([
      expect.stringMatching(/its sale is .*"total":1,.*"signature":"another".* in the books, expected .*"total":1250/),
    ]);
  });

  it("names a document that was not requested", () => {
    const found = differences(({ documents }) => {
      const [first] = documents;
      if (first) documents.push({ ...first, id: "sale_3", traderInvoiceNumber: "STRANGE-1" });
    });
    expect(found).toEqual(["a document that nobody asked for: STRANGE-1 (sale_3)"]);
  });

  it("names a stock movement that was made twice", () => {
    const found = differences(({ movements }) => {
      movements.push(...movements.filter(({ action }) => action === "DEDUCT"));
    });
    expect(found).toEqual(["a stock movement that nobody asked for: DUKA-1007/item_gesi/sold: DEDUCT 1 of item_gesi"]);
  });

  it("names a stock movement that is missing, one that is wrong, and one that was not requested", () => {
    const found = differences((books) => {
      books.movements = books.movements.flatMap((movement) => {
        if (movement.action === "ADD") return [];
        return [
          { ...movement, quantity: 2 },
          { ...movement, referenceId: "strange" },
        ];
      });
    });
    expect(found).toEqual([
      "no stock movement CN-DUKA-1007/item_gesi/restocked: ADD 1 of item_gesi",
      "no stock movement DUKA-1007/item_gesi/sold: DEDUCT 1 of item_gesi",
      "a stock movement that nobody asked for: DUKA-1007/item_gesi/sold: DEDUCT 2 of item_gesi",
      "a stock movement that nobody asked for: strange: DEDUCT 1 of item_gesi",
    ]);
  });

  it("names an Idempotency-Key that was used with two bodies", () => {
    const found = differences(({ keyReusedWithOtherBody }) => {
      keyReusedWithOtherBody.push({
        atMs: 0,
        operation: "createSale",
        application: "demo",
        idempotencyKey: "key-0001",
      });
    });
    expect(found).toEqual(["the Idempotency-Key key-0001 was used with two bodies"]);
  });
});
