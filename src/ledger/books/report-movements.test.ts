import { expect, it } from "vitest";

import type { SaleDocument, StockMovement } from "../../contract/index.ts";
import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { bookMovement } from "../test-support/movements.ts";
import { documentOf, keepRecord, recordOf, someBusiness, type TestRecord, WRITER } from "../test-support/records.ts";

const test = ledgerOfSuite();

const OCTOBER = { kind: "month", from: "2026-10-01", to: "2026-10-31" } as const;
const NOVEMBER = { kind: "month", from: "2026-11-01", to: "2026-11-30" } as const;

const SALE = documentOf("INV-1", { saleDate: "2026-10-30" });
const NOTE = documentOf("CN-1", { type: "credit_note", saleDate: "2026-11-02", originalSaleId: SALE.id });
const SOLD = recordOf("INV-1").movements;
const RETURNED: StockMovement[] = SOLD.map(({ referenceId: undoes, itemId, quantity, unitPrice }) => ({
  referenceId: `CN-1/${itemId}/restocked`,
  purpose: "restocked",
  action: "ADD",
  itemId,
  quantity,
  unitPrice,
  state: "applied",
  undoes,
}));

/** What was taken and given back, in October and in November. */
async function movedBy(sale: Partial<TestRecord>, note?: Partial<TestRecord>) {
  const business = someBusiness();
  const save = (document: SaleDocument, more: Partial<TestRecord>) =>
    keepRecord(test.ledger, business, recordOf(document.traderInvoiceNumber, { document, ...more }), WRITER);
  const book = async (type: "sale" | "credit_note", number: string, movements: readonly StockMovement[] = []) => {
    for (const one of movements) await bookMovement(test.ledger.stock, business, { type, number }, one);
  };
  await save(SALE, { stage: "credited", ...sale });
  await book("sale", "INV-1", sale.movements);
  if (note) await save(note.document ?? NOTE, { type: "credit_note", stage: "credited", ...note });
  await book("credit_note", "CN-1", note?.movements);
  return await Promise.all(
    [OCTOBER, NOVEMBER].map(async (period) => {
      const [report] = await test.ledger.reports.read({ period, ...business });
      return report?.movements.map(({ name, taken, givenBack }) => ({ name, taken, givenBack }));
    }),
  );
}

const TAKEN = { name: "Tea", taken: "2.5", givenBack: "0" };
const GIVEN_BACK = { name: "Tea", taken: "0", givenBack: "2.5" };

it.each([
  ["the sale", [...SOLD, ...RETURNED], []],
  ["the credit note", SOLD, RETURNED],
])(
  "goods that a refund returned count in the credit note's month, where they are booked for %s",
  async (_, ofSale, ofNote) => {
    expect(await movedBy({ movements: ofSale }, { movements: ofNote })).toEqual([[TAKEN], [GIVEN_BACK]]);
  },
);

it("goods that a refund returned count in the sale's month where the ledger does not have the signed credit note", async () => {
  const movements = [...SOLD, ...RETURNED];
  const both = [{ ...TAKEN, givenBack: "2.5" }];
  expect(await movedBy({ movements })).toEqual([both, []]);
  const document: SaleDocument = { ...NOTE, status: "pending", receipt: null };
  expect(await movedBy({ movements }, { document, movements: [] })).toEqual([both, []]);
});

it("goods that a sale gave back as it ended count in its own month, whatever its credit note's", async () => {
  const undone = RETURNED.map((movement) => ({ ...movement, purpose: "undone" as const }));
  expect(await movedBy({ movements: [...SOLD, ...undone] }, { movements: [] })).toEqual([
    [{ ...TAKEN, givenBack: "2.5" }],
    [],
  ]);
});
