import { expect, test } from "vitest";

import { nextSearch, saleBody, type SaleNames, type SaleSearch } from "./sale-body.ts";

const NAMES: SaleNames = {
  "createSale.fields.traderInvoiceNumber": "traderInvoiceNumber",
  "createSale.fields.lines": "lines",
  "createSale.lineFields.itemId": "itemId",
  "createSale.lineFields.quantity": "quantity",
  "createSale.lineFields.unitPrice": "unitPrice",
};
const START: SaleSearch = { names: NAMES, refuted: new Map() };

test("a probe sale is written under the candidate names", () => {
  const names = { ...NAMES, "createSale.fields.lines": "items", "createSale.lineFields.quantity": "qty" };
  expect(saleBody(names, { number: "A-1", itemId: "i", quantity: 2, unitPrice: 3 })).toEqual({
    traderInvoiceNumber: "A-1",
    items: [{ itemId: "i", qty: 2, unitPrice: 3 }],
  });
});

test("a name that the service asks for replaces the one that was sent", () => {
  expect(nextSearch(START, ["invoice_number", "is", "required"])?.names).toMatchObject({
    "createSale.fields.traderInvoiceNumber": "invoice_number",
  });
});

test("a name that the service refuses is replaced by another candidate, and is not tried again", () => {
  const first = nextSearch(START, ["quantity", "is", "not", "a", "known", "field"]);
  expect(first?.names["createSale.lineFields.quantity"]).toBe("qty");
  const second = first && nextSearch(first, ["qty", "quantity"]);
  expect(second?.names["createSale.lineFields.quantity"]).not.toMatch(/^(qty|quantity)$/);
});

test("the search for names ends when no candidate is left", () => {
  let search: SaleSearch | undefined = START;
  let steps = 0;
  while (search !== undefined && steps < 100) {
    search = nextSearch(search, []);
    steps += 1;
  }
  expect(search).toBeUndefined();
  expect(steps).toBeLessThan(20);
});
