/**
 * `@fiscalflow/receipt`: the receipt of a sale or a credit note as text, ESC/POS, HTML and PDF, for the till and the
 * buyer. It is made from the signed document alone: no ledger, no network, no settings.
 *
 * Stands on: `src/contract`.
 */
export { receiptEscPos } from "./escpos.ts";
export { receiptHtml } from "./html.ts";
export type { ReceiptOptions, Seller } from "./page.ts";
export { type PdfOptions, receiptPdf } from "./pdf.ts";
export { receiptText } from "./text.ts";
export type { RefundReason } from "../contract/codes.ts";
export type { Customer, LinesLeftOut, Receipt, SaleDocument, SaleDocumentLine } from "../contract/documents.ts";
