import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { CallInputError } from "../http/service-call.ts";
import { composeCreateSale, composeCreditNote, type CreateSaleInput } from "./compose.ts";
import { parseDialect } from "./dialect.ts";

const input: CreateSaleInput = {
  businessId: "biz_1",
  traderInvoiceNumber: "INV-1001",
  saleDate: "2026-11-21",
  customer: { pin: "A012345678Z" },
  lines: [{ itemId: "itm_1", quantity: 2, unitPrice: 116 }],
  branch: { id: "br_1", authorityBhfId: "00" },
  callbackUrl: "https://shop.example/callbacks/token",
};

const bodyOf = ({ bodyJson }: { bodyJson: string }): unknown => JSON.parse(bodyJson);

describe("a sale", () => {
  test("is composed under the dialect's default names", () => {
    const composed = composeCreateSale(parseDialect(), "organisation", input);
    expect(composed).toMatchObject({ method: "POST", path: "/v1/sales", query: { businessId: "biz_1" } });
    expect(bodyOf(composed)).toEqual({
      traderInvoiceNumber: "INV-1001",
      saleDate: "2026-11-21",
      customer: { pin: "A012345678Z" },
      lines: [{ itemId: "itm_1", quantity: 2, unitPrice: 116 }],
      callbackUrl: "https://shop.example/callbacks/token",
      branchId: "br_1",
    });
  });

  test("is composed under other names, and what is null is not sent", () => {
    const dialect = parseDialect({
      createSale: {
        path: "/v1/invoices",
        businessIdIn: "body",
        branchBy: "authorityId",
        fields: { traderInvoiceNumber: "number", branch: "bhf", callbackUrl: null },
        lineFields: { itemId: "item", unitPrice: null },
        customerFields: { pin: null },
      },
    });
    const composed = composeCreateSale(dialect, "organisation", input);
    expect(composed).toMatchObject({ path: "/v1/invoices", query: {} });
    expect(bodyOf(composed)).toEqual({
      businessId: "biz_1",
      number: "INV-1001",
      saleDate: "2026-11-21",
      lines: [{ item: "itm_1", quantity: 2 }],
      bhf: "00",
    });
  });

  test("names no business with a bound key, and must name one with an organisation-wide key", () => {
    expect(composeCreateSale(parseDialect(), "business", input).query).toEqual({});
    const { businessId: _left, ...rest } = input;
    expect(() => composeCreateSale(parseDialect(), "organisation", rest)).toThrow(
      expect.objectContaining({ code: "missing-business-id" }),
    );
  });

  test("is refused where the dialect wants an id that the branch does not have", () => {
    const dialect = parseDialect({ createSale: { branchBy: "authorityId" } });
    expect(() => composeCreateSale(dialect, "organisation", { ...input, branch: { id: "br_1" } })).toThrow(
      CallInputError,
    );
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])(
    "is refused with %d in it, which JSON would turn into null",
    (unitPrice) => {
      const lines = [{ itemId: "itm_1", quantity: 1, unitPrice }];
      expect(() => composeCreateSale(parseDialect(), "organisation", { ...input, lines })).toThrow(/unitPrice/);
    },
  );

  test("is the same bytes each time, also after a stay in a history", () => {
    const line = fc.record({
      itemId: fc.string(),
      quantity: fc.float({ noNaN: true, noDefaultInfinity: true }),
      unitPrice: fc.nat(),
    });
    fc.assert(
      fc.property(fc.string(), fc.array(line), (traderInvoiceNumber, lines) => {
        const compose = () =>
          composeCreateSale(parseDialect(), "organisation", { ...input, traderInvoiceNumber, lines });
        expect(JSON.parse(JSON.stringify(compose()))).toEqual(compose());
        expect(compose().bodyJson).toBe(compose().bodyJson);
      }),
    );
  });
});

describe("a credit note", () => {
  const note = {
    businessId: "biz_1",
    traderInvoiceNumber: "CN-1",
    returnDate: "2026-11-22",
    saleId: "sal_1",
    reason: "06",
  } as const;

  test("has the document's fields, and the business where the dialect says", () => {
    const { businessId, ...fields } = note;
    const inQuery = composeCreditNote(parseDialect(), "organisation", note);
    expect(inQuery).toMatchObject({ method: "POST", path: "/v1/credit-notes", query: { businessId } });
    expect(bodyOf(inQuery)).toEqual(fields);
    const inBody = composeCreditNote(parseDialect({ creditNote: { businessIdIn: "body" } }), "organisation", note);
    expect(inBody.query).toEqual({});
    expect(bodyOf(inBody)).toEqual(note);
  });
});
