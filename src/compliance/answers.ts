import { z } from "zod";

import type { Branch } from "../contract/calls.ts";
import type { Item, SaleDocument, StockAdjustment } from "../contract/documents.ts";
import { field } from "../http/json.ts";
import { bodyOf, type ReadBody, type ReadList, rowsOf } from "../http/read-body.ts";
import { redactDeep } from "../http/service-call.ts";

/**
 * The answers of the Compliance API (Fiscal Compliance API, "Resources and their fields"). Loose: unknown keys are
 * kept. What the product decides upon is required; what it only passes on may be absent or null. The plain types of the
 * same objects are in `../contract/documents.ts`; `answers.test.ts` proves that one is assignable to the other.
 */

const text = z.string().nullish();
/** Where an odd value must not cost the whole list: only `true` says that something is missing. */
const flag = z.boolean().optional().catch(undefined);

const customerSchema = z.looseObject({ name: text, pin: text, phone: text, email: text });

const saleLineSchema = z.looseObject({
  id: z.string(),
  itemId: z.string(),
  name: text,
  description: text,
  quantity: z.number(),
  unitPrice: z.number(),
  total: z.number(),
  taxableAmount: z.number(),
  taxAmount: z.number(),
  taxRate: z.number(),
  taxTypeCode: text,
});

const receiptSchema = z.looseObject({
  cuInvoiceNo: text,
  receiptNumber: z.number().nullish(),
  receiptLabel: text,
  scuId: text,
  scuDate: text,
  scuTime: text,
  totalReceiptCounter: text,
  signature: text,
  internalData: text,
  verificationUrl: text,
  originalCuInvoiceNo: text,
});

/**
 * Without its `url`, and with no other URL besides its host: the path is a token that names a workflow to anybody who
 * has it, and what is read here goes to histories, the ledger and callers.
 */
const callbackSchema = z.preprocess(
  withoutUrl,
  z.looseObject({
    status: z.string(),
    event: text,
    attempts: z.number().optional(),
    lastAttemptAt: text,
    lastResponseStatus: z.number().nullish(),
    lastError: text,
    deliveredAt: text,
    nextAttemptAt: text,
  }),
);

/** A sale or a credit note. `status` stays a string: a word outside the six is for the classification to judge. */
export const saleSchema = z.looseObject({
  id: z.string().min(1),
  type: z.string(),
  status: z.string(),
  traderInvoiceNumber: z.string(),
  saleDate: text,
  paymentTypeCode: text,
  customer: customerSchema.nullish(),
  lines: z.array(saleLineSchema),
  totals: z.looseObject({ total: z.number(), taxableAmount: z.number(), taxAmount: z.number() }),
  receipt: receiptSchema.nullish(),
  originalSaleId: text,
  error: text,
  callback: callbackSchema.nullish(),
});

export const itemSchema = z.looseObject({
  id: z.string().min(1),
  externalId: text,
  name: text,
  sku: text,
  taxCategory: text,
  taxTypeCode: text,
  productTypeCode: text,
  classificationCode: text,
  unitCode: text,
  packagingUnitCode: text,
  unitPrice: z.number().nullish(),
  stockTracked: z.boolean(),
  registrationStatus: z.string(),
  needs: z.looseObject({ productType: flag, classificationMapping: flag }).nullish(),
});

const purchaseSchema = z.looseObject({
  id: z.string().min(1),
  /** `pulled`, `pending_review`, `confirmed` or `rejected`. */
  status: z.string(),
  supplier: z.looseObject({ name: text, pin: text }),
  supplierInvoiceNumber: z.string(),
  /** `YYYY-MM-DD`. */
  invoiceDate: z.string(),
  /** The branch's name. */
  branch: text,
  totals: z.looseObject({ subtotal: z.number(), vat: z.number(), total: z.number() }),
  lines: z.array(
    z.looseObject({
      description: text,
      hsCode: text,
      quantity: z.number(),
      unitPrice: z.number(),
      taxRate: z.number(),
      taxAmount: z.number(),
      total: z.number(),
    }),
  ),
  confirmationError: text,
});

export type Purchase = z.infer<typeof purchaseSchema>;

function withoutUrl(callback: unknown): unknown {
  if (typeof callback !== "object" || callback === null) return callback;
  const { url: _url, ...delivery }: Record<string, unknown> = { ...callback };
  return redactDeep(delivery);
}

export const readDocument: ReadBody<SaleDocument> = bodyOf(
  z.looseObject({ data: z.looseObject({ sale: saleSchema }) }),
  (body) => body.data.sale,
);

export const readItem: ReadBody<Item> = bodyOf(
  z.looseObject({ data: z.looseObject({ item: itemSchema }) }),
  (body) => body.data.item,
);

/** The rows of a list are read one by one: an odd one must not hide the others. */
export const readItems: ReadList<Item[]> = rowsOf({
  path: ["data", "items"],
  body: z.looseObject({ data: z.looseObject({ items: z.array(z.unknown()) }) }),
  row: itemSchema,
  names: ["id", "externalId", "sku"],
  data: (_body, items) => items,
});

export interface PurchasesPage {
  purchases: Purchase[];
  /** `null` on the last page. */
  nextCursor: string | null;
  pageSize?: number;
}

export const readPurchases: ReadList<PurchasesPage> = rowsOf({
  path: ["data", "purchases"],
  body: z.looseObject({
    data: z.looseObject({ purchases: z.array(z.unknown()) }),
    pagination: z.looseObject({ nextCursor: z.string().min(1).nullable(), pageSize: z.number().optional() }),
  }),
  row: purchaseSchema,
  names: ["id"],
  data: ({ pagination: { nextCursor, pageSize } }, purchases) => ({
    purchases,
    nextCursor,
    ...(pageSize === undefined ? {} : { pageSize }),
  }),
});

export interface Business {
  id: string;
  /** In the API's order: the first one is its default. Empty where the dialect has no name for them. */
  branches: Branch[];
}

const answerSchema = z.looseObject({ data: z.unknown() });
const recordsSchema = z.array(z.looseObject({}));
const idSchema = z.string().min(1);

/** The records' fields are not shown: the dialect names them. */
interface BusinessNames {
  list: string | null;
  id: string;
  branches: string | null;
  branchId: string;
  authorityId: string | null;
}

export function readBusinesses(names: BusinessNames): ReadBody<Business[]> {
  const branchSchema = z.looseObject({}).transform((record, context): Branch => {
    const id = idSchema.safeParse(field(record, names.branchId));
    if (!id.success) return missing(context, names.branchId);
    const authorityId = names.authorityId === null ? undefined : field(record, names.authorityId);
    return typeof authorityId === "string" && authorityId !== ""
      ? { id: id.data, authorityBhfId: authorityId }
      : { id: id.data };
  });
  const businessSchema = z.looseObject({}).transform((record, context): Business => {
    const id = idSchema.safeParse(field(record, names.id));
    if (!id.success) return missing(context, names.id);
    const listed = names.branches === null ? [] : field(record, names.branches);
    const branches = z.array(branchSchema).safeParse(listed ?? []);
    if (branches.success) return { id: id.data, branches: branches.data };
    return missing(context, names.branches ?? "branches");
  });
  const schema = answerSchema
    .transform((body) => (names.list === null ? body.data : field(body.data, names.list)))
    .pipe(recordsSchema)
    .pipe(z.array(businessSchema));
  return bodyOf(schema, (businesses) => businesses);
}

function missing(context: z.RefinementCtx, name: string): never {
  context.addIssue({ code: "custom", path: [name], message: "missing, or not of its form (dialect, businesses)" });
  return z.NEVER;
}

const looseText = z.string().optional().catch(undefined);
const movementSchema = z.looseObject({
  data: z.looseObject({
    movementId: z.union([z.string().min(1), z.number().transform(String)]),
    itemId: looseText,
    branchId: looseText,
    quantityOnHand: z.number().optional().catch(undefined),
  }),
});

/** What of a movement was asked for. */
interface Requested {
  itemId: string;
  branch?: Branch | undefined;
}

/**
 * A 201 that names a `movementId` is an applied movement, whatever else the body holds (failure model): nothing else is
 * required, since a refused body would turn a movement that was made into one whose outcome is unknown. A missing item
 * or branch is taken from the request; a branch that nobody named is `""`.
 */
export function readAdjustment(input: Requested, reportName: string | null): ReadBody<StockAdjustment> {
  return bodyOf(movementSchema, ({ data }) => {
    // `null` is no report either: the dialect's name is the product's own guess, and only a report that is there can be
    // wrong.
    const report = reportName === null ? undefined : (field(data, reportName) ?? undefined);
    return {
      itemId: data.itemId ?? input.itemId,
      branchId: data.branchId ?? input.branch?.id ?? "",
      movementId: data.movementId,
      quantityOnHand: data.quantityOnHand,
      report:
        report === undefined
          ? undefined
          : { stockIo: statusOf(report, "stockIo"), stockMaster: statusOf(report, "stockMaster") },
    };
  });
}

function statusOf(report: unknown, part: string): string | undefined {
  const status = field(field(report, part), "status");
  return typeof status === "string" ? status : undefined;
}

/**
 * What an error says besides `code` and `message` (Fiscal Compliance API, "Errors"). `sale` and `item` are read
 * leniently: where one is not whole, what decides is kept all the same (`seenSale`, `seenItem`).
 */
export interface ErrorExtras {
  sale?: SaleDocument;
  seenSale?: SeenSale;
  item?: Item;
  seenItem?: SeenItem;
  /** As the API sent them, keys and URLs taken out. */
  errors?: unknown;
  branches?: unknown;
  creditNoteId?: string;
}

export interface SeenSale {
  id: string;
  type?: string | undefined;
  /** Only on a credit note. */
  originalSaleId?: string | undefined;
}

export interface SeenItem {
  registrationStatus?: string | undefined;
  /** The names under `needs` that are true. */
  missing: string[];
}

const seenSaleSchema = z.object({
  id: z.string().min(1),
  type: looseText,
  originalSaleId: z.string().min(1).optional().catch(undefined),
});
const seenItemSchema = z
  .object({ registrationStatus: looseText, needs: z.record(z.string(), z.unknown()).catch({}).default({}) })
  .transform(({ registrationStatus, needs }): SeenItem => {
    return { registrationStatus, missing: Object.keys(needs).filter((name) => needs[name] === true) };
  });
const envelopeSchema = z.looseObject({
  error: z.looseObject({ code: z.string().min(1), message: z.string().catch("") }),
});

/** The service's own words of an error; undefined where the body is something else. */
export function readErrorEnvelope(json: unknown): { code: string; message: string } | undefined {
  return envelopeSchema.safeParse(json).data?.error;
}

/**
 * The document puts the extras beside `code` and `message`. They are also found beside `error` and in `data`: a
 * document that exists and is overlooked would be issued twice.
 */
export function readErrorExtras(json: unknown): ErrorExtras {
  const places = [field(json, "error"), json, field(json, "data")];
  const find = (name: string): unknown =>
    places.map((place) => field(place, name)).find((value) => value !== undefined && value !== null);

  const sale = find("sale");
  const item = find("item");
  const creditNoteId = find("creditNoteId");
  return {
    sale: saleSchema.safeParse(sale).data,
    seenSale: readSeenSale(sale),
    item: itemSchema.safeParse(item).data,
    seenItem: seenItemSchema.safeParse(item).data,
    errors: redactDeep(find("errors")),
    branches: redactDeep(find("branches")),
    creditNoteId: typeof creditNoteId === "string" && creditNoteId !== "" ? creditNoteId : undefined,
  };
}

export function readSeenSale(sale: unknown): SeenSale | undefined {
  return seenSaleSchema.safeParse(sale).data;
}
