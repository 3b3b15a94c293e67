import type {
  CorrectionRequest,
  RefundRequest,
  ResolveDocumentRequest,
  SaleInput,
  saleInputSchema,
  Starter,
} from "@fiscalflow/client";

const traderInvoiceNumber = "INV-1";
const sold = { quantity: 1, unitPrice: 198 };
const note = "seen in the dashboard";
const refund = { reason: "06", traderInvoiceNumber: "CN-1" } as const;
const replaceWith = { traderInvoiceNumber: "INV-2", lines: [{ sku: "UNGA-2KG", ...sold }] };

/** What a cart may know of an item. */
declare const cart: { sku: string; quantity: number; unitPrice: number }[];
declare const parsed: ReturnType<(typeof saleInputSchema)["parse"]>;
declare const starter: Starter;

export const sales: SaleInput[] = [
  { traderInvoiceNumber, lines: [{ sku: "UNGA-2KG", ...sold }] },
  {
    traderInvoiceNumber,
    lines: [
      { itemId: "item_1", ...sold },
      { externalId: "ext-1", ...sold },
    ],
  },
  { traderInvoiceNumber, saleId: "sal_1" },
  // What is left out may be undefined.
  {
    traderInvoiceNumber,
    saleDate: undefined,
    customer: undefined,
    lines: [{ sku: "UNGA-2KG", itemId: undefined, ...sold }],
  },
  { traderInvoiceNumber, saleId: "sal_1", lines: [{ sku: "UNGA-2KG", ...sold }] },
];

export const salesThatAreNone: SaleInput[] = [
  // @ts-expect-error it has neither lines nor a sale to adopt
  { traderInvoiceNumber },
  // @ts-expect-error its line names no item
  { traderInvoiceNumber, lines: [{ ...sold }] },
  // @ts-expect-error its line names an item in two ways
  { traderInvoiceNumber, lines: [{ sku: "UNGA-2KG", itemId: "item_1", ...sold }] },
];

export const refunds: RefundRequest[] = [
  refund,
  { ...refund, restock: true },
  { ...refund, restock: true, branch: "branch_2" },
  { ...refund, replaceWith },
];

export const refundsThatAreNone: RefundRequest[] = [
  // @ts-expect-error it names a branch, and returns nothing to it
  { ...refund, branch: "branch_2" },
  // @ts-expect-error the same
  { ...refund, restock: false, branch: "branch_2" },
  // @ts-expect-error a corrected sale has lines
  { ...refund, replaceWith: { traderInvoiceNumber: "INV-2" } },
];

export const answers: ResolveDocumentRequest[] = [
  { saleId: "sal_1", note },
  { notCreated: true, note },
];

export const answersThatAreNone: ResolveDocumentRequest[] = [
  // @ts-expect-error it does not say what became of the document
  { note },
  // @ts-expect-error it says both
  { saleId: "sal_1", notCreated: true, note },
];

/** Compiled, and never called. */
export function calls(): unknown[] {
  // @ts-expect-error a correction names the corrected sale
  const withoutSuccessor: CorrectionRequest = refund;
  return [
    withoutSuccessor,
    starter.correct({ invoice: traderInvoiceNumber }, { ...refund, replaceWith }),
    starter.startSale(parsed),
    starter.retry({ invoice: traderInvoiceNumber, businessId: undefined }, { code: undefined, subject: undefined }),
    starter.refund({ invoice: traderInvoiceNumber }, { ...refund, branch: undefined }, { waitSeconds: undefined }),
    starter.startSale({
      traderInvoiceNumber,
      lines: cart.map(({ sku, quantity, unitPrice }) => ({ sku, quantity, unitPrice })),
    }),
    // @ts-expect-error it has neither lines nor a sale to adopt
    starter.startSaleAndWait({ traderInvoiceNumber }),
    // @ts-expect-error it does not say what became of the document
    starter.resolveDocument({ invoice: traderInvoiceNumber }, { note }),
  ];
}
