import { beforeAll, describe, expect, it } from "vitest";
import type { Books } from "../simulator/index.ts";
import { compareWithBooks } from "./compare-with-books.ts";
import type { DemoPlan } from "./demo-plan.ts";
import type { SaleProgress } from "./sale-progress.ts";
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

  it("names a sale that should need an operator and does not", () => {
    const found = differences((_books, { example }) => ({
      example: { ...example, expected: { ...example.expected, attention: "stock-unknown" } },
    }));
    expect(found).toEqual(["DUKA-1007: does not need an operator, expected stock-unknown"]);
  });

  it("names a sale that was not run", () => {
    expect(compareWithBooks(right.plan, [], right.books)).toEqual(["DUKA-1007: was not run"]);
  });

  it("names a document that was issued twice", () => {
    const found = differences(({ documents }) => {
      documents.push(...documents.filter(({ type }) => type === "sale").map((sale) => ({ ...sale, id: "sale_2" })));
    });
    expect(found).toEqual(["DUKA-1007: the books have 2 sales with its number, expected one"]);
  });

  it("names a credit note that is missing", () => {
    const found = differences((books) => {
      books.documents = books.documents.filter(({ type }) => type === "sale");
    });
    expect(found).toEqual(["DUKA-1007: the books have no credit note with its number"]);
  });

  it("names a credit note that reverses another sale", () => {
    const found = differences(({ documents }) => {
      for (const note of documents.filter(({ type }) => type === "credit_note")) note.originalSaleId = "sale_other";
    });
    expect(found).toEqual([expect.stringMatching(/^DUKA-1007: the credit note .* reverses another sale$/)]);
  });

  it("names a document that the authority has not accepted", () => {
    const found = differences(({ documents }) => {
      for (const sale of documents.filter(({ type }) => type === "sale")) sale.status = "failed";
    });
    expect(found).toEqual(["DUKA-1007: its sale is failed in the books, expected completed"]);
  });

  it("names a receipt and a total that differ from the workflow's", () => {
    const found = differences(({ documents }) => {
      for (const { receipt, totals } of documents.filter(({ type }) => type === "sale")) {
        if (receipt) receipt.signature = "another";
        totals.total = 1;
      }
    });
    expect(found).toEqual([
      "DUKA-1007: the receipt of its sale is not the one in the books",
      "DUKA-1007: the total of its sale is 1250 to the workflow, 1 in the books",
    ]);
  });

  it("names a document that was not requested", () => {
    const found = differences(({ documents }) => {
      const [first] = documents;
      if (first) documents.push({ ...first, id: "sale_3", traderInvoiceNumber: "STRANGE-1" });
    });
    expect(found).toEqual(["the books have a document nobody asked for: STRANGE-1 (sale_3)"]);
  });

  it("names a stock movement that was made twice", () => {
    const found = differences(({ movements, stockOnHand }) => {
      movements.push(...movements.filter(({ action }) => action === "DEDUCT"));
      stockOnHand["item_gesi"] = { branch_kawangware: 9 };
    });
    expect(found).toEqual([
      "the stock movement DUKA-1007/item_gesi/sold (DEDUCT 1 of item_gesi) is in the books 2 times",
      "the stock of item_gesi is 9 in the books, expected 10",
    ]);
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
      "the stock movement DUKA-1007/item_gesi/sold (DEDUCT 1 of item_gesi) is in the books as DEDUCT 2 of item_gesi",
      "the stock movement CN-DUKA-1007/item_gesi/restocked (ADD 1 of item_gesi) is not in the books",
      "the books have a stock movement nobody asked for: DEDUCT 1 of item_gesi (strange)",
    ]);
  });

  it("names a call too many, unless calls are not to be counted", () => {
    const books = structuredClone(right.books);
    books.callLog.push(...books.callLog.filter(({ operation }) => operation === "createSale"));
    expect(compareWithBooks(right.plan, right.sales, books)).toEqual(["DUKA-1007: took 5 API calls, expected 4"]);
    expect(compareWithBooks(right.plan, right.sales, books, { callCounts: false })).toEqual([]);
  });

  it("names a call that belongs to no sale", () => {
    const found = differences(({ callLog }) => {
      const [first] = callLog;
      if (first) callLog.push({ ...first, operation: "readSale", method: "GET", path: "/v1/sales/x", invoice: null });
    });
    expect(found).toEqual(["a call that belongs to no sale: GET /v1/sales/x"]);
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
