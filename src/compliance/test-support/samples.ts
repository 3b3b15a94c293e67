import type { Item, SaleDocument } from "../../contract/documents.ts";

/** A sale as the document shows one. */
export function sampleSale(changes: Partial<SaleDocument> = {}): SaleDocument {
  return {
    id: "sal_1",
    type: "sale",
    status: "completed",
    traderInvoiceNumber: "INV-1001",
    saleDate: "2026-11-21",
    paymentTypeCode: "01",
    customer: { name: "Wanjiru", pin: "A012345678Z", phone: null, email: null },
    lines: [
      {
        id: "lin_1",
        itemId: "itm_1",
        name: "Maize flour",
        description: null,
        quantity: 2,
        unitPrice: 116,
        total: 232,
        taxableAmount: 200,
        taxAmount: 32,
        taxRate: 16,
        taxTypeCode: "B",
      },
    ],
    totals: { total: 232, taxableAmount: 200, taxAmount: 32 },
    receipt: { cuInvoiceNo: "KRACU01/1", receiptNumber: 1, receiptLabel: "NS", scuDate: "21/11/2026" },
    originalSaleId: null,
    error: null,
    callback: null,
    ...changes,
  };
}

export function sampleCreditNote(changes: Partial<SaleDocument> = {}): SaleDocument {
  return sampleSale({ id: "crn_1", type: "credit_note", originalSaleId: "sal_1", ...changes });
}

export function sampleItem(changes: Partial<Item> = {}): Item {
  const item = {
    id: "itm_1",
    externalId: "ext-1",
    name: "Maize flour",
    sku: "MF-2",
    taxCategory: "standard",
    taxTypeCode: "B",
    productTypeCode: "2",
    classificationCode: "50221300",
    unitCode: "U",
    packagingUnitCode: "BG",
    unitPrice: 116,
    stockTracked: true,
    registrationStatus: "REGISTERED",
    needs: { productType: false, classificationMapping: false },
  };
  return { ...item, ...changes };
}
