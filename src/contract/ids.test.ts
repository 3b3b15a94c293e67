import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { findSaleWorkflowId, firstOutcomeWorkflowId, MAX_WORKFLOW_ID_LENGTH, saleWorkflowId } from "./ids.ts";
import { saleIdentity } from "./test-support/arbitraries.ts";

const sale = { connection: "default", businessId: "biz_1", traderInvoiceNumber: "INV-1001" };

describe("the workflow id of a sale", () => {
  test("names connection, business and invoice number", () => {
    expect(saleWorkflowId(sale)).toBe("sale/default/biz_1/INV-1001");
  });

  test("has a dash for a business that is not known", () => {
    expect(saleWorkflowId({ ...sale, businessId: undefined })).toBe("sale/default/-/INV-1001");
  });

  test.each([
    ["a slash", "A/1", "A%2F1"],
    ["a space", "A 1", "A%201"],
    ["an emoji", "\u{1F9FE}", "%F0%9F%A7%BE"],
    ["a percent sign", "100%", "100%25"],
  ])("escapes %s", (_what, traderInvoiceNumber, escaped) => {
    expect(saleWorkflowId({ ...sale, traderInvoiceNumber })).toBe(`sale/default/biz_1/${escaped}`);
  });

  test("does not let a slash in the number move it to another business", () => {
    expect(saleWorkflowId({ ...sale, businessId: "a", traderInvoiceNumber: "b/c" })).not.toBe(
      saleWorkflowId({ ...sale, businessId: "a/b", traderInvoiceNumber: "c" }),
    );
  });

  test("of fifty emoji is cut at 200 characters, with a readable prefix and a digest", () => {
    const id = saleWorkflowId({ ...sale, traderInvoiceNumber: "\u{1F9FE}".repeat(50) });
    expect(id).toMatch(/^sale\/default\/biz_1\/(%[0-9A-F]{2})+~[0-9a-f]{64}$/);
    expect(id.length).toBeLessThanOrEqual(MAX_WORKFLOW_ID_LENGTH);
  });

  test("cannot be claimed by a number that imitates the cut id of another sale", () => {
    const long = saleWorkflowId({ ...sale, traderInvoiceNumber: "x".repeat(400) });
    const imitation = long.slice("sale/default/biz_1/".length);
    expect(saleWorkflowId({ ...sale, traderInvoiceNumber: imitation })).not.toBe(long);
  });

  test("has at most 200 characters, all of them ASCII", () => {
    fc.assert(
      fc.property(saleIdentity, (identity) => {
        expect(saleWorkflowId(identity)).toMatch(/^sale\/[a-z0-9-]{1,32}\/[!-~]+$/);
        expect(saleWorkflowId(identity).length).toBeLessThanOrEqual(200);
      }),
    );
  });

  test("is shared by no two of connection, business and number", () => {
    fc.assert(
      fc.property(saleIdentity, saleIdentity, (a, b) => {
        const same =
          a.connection === b.connection &&
          a.businessId === b.businessId &&
          a.traderInvoiceNumber === b.traderInvoiceNumber;
        expect(saleWorkflowId(a) === saleWorkflowId(b)).toBe(same);
      }),
    );
  });

  test("is not shared by the ways to split one text into business and number", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "/", "%2F", "~", "-"), minLength: 2, maxLength: 120 });
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (whole, first, second) => {
        const ids = [first, second].map((at) => 1 + (at % (whole.length - 1)));
        const [a, b] = ids.map((at) =>
          saleWorkflowId({
            connection: "c",
            businessId: `b${whole.slice(0, at)}`,
            traderInvoiceNumber: whole.slice(at),
          }),
        );
        expect(a === b).toBe(ids[0] === ids[1]);
      }),
    );
  });
});

test("the workflow id of a question to the ledger names the sale, and is bounded as the sale's", () => {
  expect(findSaleWorkflowId(sale)).toBe("find-sale/default/biz_1/INV-1001");
  const long = findSaleWorkflowId({ ...sale, traderInvoiceNumber: "x".repeat(400) });
  expect(long).toMatch(/^find-sale\/default\/biz_1\/x+~[0-9a-f]{64}$/);
  expect(long.length).toBeLessThanOrEqual(MAX_WORKFLOW_ID_LENGTH);
});

test("each call through Nexus waits for a sale under an id of its own", () => {
  const awaited = saleWorkflowId({ connection: "default", businessId: "biz_1", traderInvoiceNumber: "A/1" });
  expect(firstOutcomeWorkflowId(awaited, "r-1")).toBe("first-outcome/sale/default/biz_1/A%2F1/r-1");
  const long = "x".repeat(200);
  expect(firstOutcomeWorkflowId(long, "r-1")).toHaveLength(200);
  expect(firstOutcomeWorkflowId(long, "r-1")).not.toBe(firstOutcomeWorkflowId(long, "r-2"));
});
