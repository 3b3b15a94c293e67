/** What a sale is asked for with. */

/** One line as a caller writes it: it names its item in exactly one way. */
export type SaleLineInput = (
  | { itemId: string; externalId?: undefined; sku?: undefined }
  | { externalId: string; itemId?: undefined; sku?: undefined }
  | { sku: string; itemId?: undefined; externalId?: undefined }
) & {
  /** More than 0. */
  quantity: number;
  /** Not below 0. */
  unitPrice: number;
};

export interface CustomerInput {
  name?: string | undefined;
  pin?: string | undefined;
  phone?: string | undefined;
  email?: string | undefined;
}

export type StockMode = "on-submission" | "on-completion" | "off";

/** Input of the `sale` workflow (https://github.com/fiscalflow/fiscalflow/blob/main/docs/sale-input.md). */
export type SaleInput = SaleFields & ({ saleId: string } | { lines: SaleLineInput[] });

/** The fields of a sale's input. It has lines, or adopts a sale. */
export interface SaleFields {
  connection?: string | undefined;
  businessId?: string | undefined;
  /** A branch's id or its authorityBhfId; else the business's first branch. */
  branch?: string | undefined;
  traderInvoiceNumber: string;
  /** `YYYY-MM-DD`; default: the Africa/Nairobi date of the workflow's start. */
  saleDate?: string | undefined;
  paymentTypeCode?: string | undefined;
  customer?: CustomerInput | undefined;
  /** May be left out where `saleId` adopts a sale. */
  lines?: SaleLineInput[] | undefined;
  /** Adopt a sale that was issued elsewhere. */
  saleId?: string | undefined;
  expectedTotal?: number | undefined;
  stock?: StockMode | undefined;
  callback?: "auto" | "off" | undefined;
  /** For example `24 hours`; `0` closes at once. */
  refundWindow?: string | undefined;
}

/** What does not reach the document. */
export type SaleOptions = Pick<SaleFields, "stock" | "callback" | "refundWindow">;

/** The corrected sale: what the `sale` workflow takes, but nothing that was issued elsewhere. */
export type CorrectedSaleInput = Omit<SaleFields, "saleId"> & { lines: SaleLineInput[] };

/** What is kept of the corrected sale beside the credited one: its own row has the rest. */
export interface Replacement {
  /** The number of the corrected sale. */
  traderInvoiceNumber: string;
  /** Of its content, as its own workflow makes it. */
  fingerprint: string;
}
