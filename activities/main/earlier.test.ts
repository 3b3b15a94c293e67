import { describe, expect, test } from "vitest";

import type { ConnectionProfile, CreditNoteInput, DocumentRecord } from "../../src/contract/index.ts";
import { documentOf, recordOf, someBusiness, WRITER } from "../../src/ledger/test-support/records.ts";
import { emptyClaims } from "../test-support/empty-claims.ts";
import { createEarlierCreditNote } from "./prepare.ts";

/**
 * A business with the sale INV-1 (sal_1), and its credit note CN-1 as an earlier release kept it: without a claim of
 * its number.
 */
async function shop(note: Partial<DocumentRecord> = {}) {
  const ledger = await emptyClaims();
  const business = someBusiness();
  const document = documentOf("CN-1", { type: "credit_note", originalSaleId: "sal_1" });
  const kept = recordOf("CN-1", { type: "credit_note", originalSaleId: "sal_1", document, ...note });
  for (const record of [recordOf("INV-1", { document: documentOf("INV-1", { id: "sal_1" }) }), kept])
    await ledger.records.saveDocument(business, record, WRITER);
  const look = (saleId: string, number = "CN-1"): Promise<void> =>
    createEarlierCreditNote(ledger)(business as ConnectionProfile, {
      reason: "06",
      traderInvoiceNumber: number,
      saleId,
    } satisfies CreditNoteInput);
  return { ledger, look };
}

describe("a look for an earlier credit note of the number", () => {
  test("refuses it to another sale, and names the one that has it", async () => {
    const { look } = await shop();
    await expect(look("sal_2")).rejects.toMatchObject({
      type: "Conflict",
      nonRetryable: true,
      message: expect.stringMatching(/^The number CN-1 belongs to .* another sale: INV-1 \(sal_1\).*Nothing was sent/),
    });
  });

  test("refuses neither the same sale, nor another number, nor that of a sale", async () => {
    const { look } = await shop();
    for (const [saleId, number] of [
      ["sal_1", "CN-1"],
      ["sal_2", "CN-2"],
      ["sal_2", "INV-1"],
    ] as const)
      await expect(look(saleId, number)).resolves.toBeUndefined();
  });

  test("finds a number free of which no request has left", async () => {
    const { look } = await shop({ document: null, numberTaken: false });
    await expect(look("sal_2")).resolves.toBeUndefined();
  });

  test("leaves it to the claim of the number where the ledger is away", async () => {
    const { ledger, look } = await shop();
    await ledger.close();
    await expect(look("sal_2")).resolves.toBeUndefined();
  });
});
