import type { SaleDocument, SaleDocumentLine } from "../../contract/documents.ts";

export const VERIFY_AT = "https://tax-authority.example/verify?invoice=SCU00000001%2F12&signature=A1B2C3D4E5F60718";

export function lineOf(name: string | null, more: Partial<SaleDocumentLine> = {}): SaleDocumentLine {
  return {
    id: `line_${name}`,
    itemId: "item_1",
    name,
    quantity: 2,
    unitPrice: 350,
    total: 700,
    taxableAmount: 603.45,
    taxAmount: 96.55,
    taxRate: 16,
    taxTypeCode: "B",
    ...more,
  };
}

/** A signed sale of three lines at two rates. */
export function signedSale(more: Partial<SaleDocument> = {}): SaleDocument {
  return {
    id: "sal_1",
    type: "sale",
    status: "completed",
    traderInvoiceNumber: "INV-1001",
    saleDate: "2026-11-20",
    customer: { name: "Wambũi & Sons", pin: "P051234567Z" },
    lines: [
      lineOf("Kericho Gold tea 500 g"),
      lineOf("Unga wa mahindi 2 kg", {
        quantity: 0.5,
        unitPrice: 1980.1,
        total: 990.05,
        taxableAmount: 990.05,
        taxAmount: 0,
        taxRate: 0,
        taxTypeCode: "A",
      }),
      lineOf("Chai masala", { quantity: 1, unitPrice: 0.1, total: 0.1, taxableAmount: 0.09, taxAmount: 0.01 }),
    ],
    totals: { total: 1690.15, taxableAmount: 1593.59, taxAmount: 96.56 },
    receipt: {
      cuInvoiceNo: "SCU00000001/12",
      receiptNumber: 12,
      receiptLabel: "NS",
      scuId: "SCU00000001",
      scuDate: "20/11/2026",
      scuTime: "13:05:22",
      totalReceiptCounter: "14",
      signature: "A1B2C3D4E5F60718",
      internalData: "0123456789ABCDEF0123456789",
      verificationUrl: VERIFY_AT,
      originalCuInvoiceNo: null,
    },
    ...more,
  };
}

/** The credit note that reverses it. */
export function signedNote(): SaleDocument {
  const sale = signedSale();
  return {
    ...sale,
    id: "sal_2",
    type: "credit_note",
    traderInvoiceNumber: "CN-1",
    lines: sale.lines.map((line) => ({
      ...line,
      quantity: -line.quantity,
      total: -line.total,
      taxableAmount: -line.taxableAmount,
      taxAmount: -line.taxAmount,
    })),
    totals: { total: -1690.15, taxableAmount: -1593.59, taxAmount: -96.56 },
    originalSaleId: "sal_1",
    receipt: {
      ...sale.receipt,
      cuInvoiceNo: "SCU00000001/15",
      receiptLabel: "NC",
      originalCuInvoiceNo: "SCU00000001/12",
    },
  };
}

/** In flight: nothing is signed. */
export function pendingSale(): SaleDocument {
  return signedSale({ status: "pending", receipt: null });
}
