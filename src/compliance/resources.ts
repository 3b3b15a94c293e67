import { z } from "zod";

import type { Branch } from "../contract/calls.ts";
import type { Item, SaleDocument, StockAdjustment } from "../contract/documents.ts";
import { IDEMPOTENCY_KEY_PATTERN } from "../contract/ids.ts";
import type { StockAction } from "../contract/stock-movement.ts";
import { bodyOf, type ReadBody, type ReadList, rowsOf } from "../http/read-body.ts";
import {
  type BusinessCallOptions,
  callOperation,
  type CallOptions,
  type ClientContext,
  pathWithId,
  type Result,
} from "./call-operation.ts";
import { branchField, composeBody, type ComposedRequest, placeBusinessId, underNames } from "./compose.ts";
import type { ComplianceDialect } from "./dialect.ts";
import { field } from "./error-envelope.ts";
import { ComplianceInputError } from "./errors.ts";
import { operation } from "./operations.ts";
import {
  itemAnswerSchema,
  itemsAnswerSchema,
  itemSchema,
  type Purchase,
  purchasesAnswerSchema,
  purchaseSchema,
  saleAnswerSchema,
} from "./schemas.ts";

export interface Business {
  id: string;
  /** In the API's order: the first one is its default. Empty where the dialect has no name for them. */
  branches: Branch[];
}

/** GET /v1/businesses: the businesses that the key can act for. Takes no businessId. */
export async function listBusinesses(context: ClientContext, options: CallOptions = {}): Promise<Result<Business[]>> {
  const op = operation("listBusinesses");
  return callOperation(context, op, { path: op.path }, readBusinesses(context.dialect.businesses), options);
}

const answerSchema = z.looseObject({ data: z.unknown() });
const recordsSchema = z.array(z.looseObject({}));
const idSchema = z.string().min(1);

/** The records' fields are not shown: the dialect names them. */
function readBusinesses(names: ComplianceDialect["businesses"]): ReadBody<Business[]> {
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

const readItem: ReadBody<Item> = bodyOf(itemAnswerSchema, (body) => body.data.item);
const readItems: ReadList<Item[]> = rowsOf({
  path: ["data", "items"],
  body: itemsAnswerSchema,
  row: itemSchema,
  names: ["id", "externalId", "sku"],
  data: (_body, items) => items,
});

/**
 * GET /v1/items: every item of the business that is not deleted, in one answer; rows that are not of their form are
 * told apart.
 */
export async function listItems(context: ClientContext, options: BusinessCallOptions = {}): Promise<Result<Item[]>> {
  const { query } = placeBusinessId(context.keyReach, options.businessId, "query");
  const op = operation("listItems");
  return callOperation(context, op, { path: op.path, query }, readItems, options);
}

export interface RegisterItemInput {
  itemId: string;
  /** Default: the business's first branch. */
  branch?: Branch | undefined;
  /** Register again an item that the tax authority already has. */
  force?: boolean | undefined;
}

/** POST /v1/items/{id}/register. */
export async function registerItem(
  context: ClientContext,
  { itemId, branch, force }: RegisterItemInput,
  options: BusinessCallOptions = {},
): Promise<Result<Item>> {
  const { register } = context.dialect;
  if (force === true && register.force === null) {
    throw new ComplianceInputError(
      "not-in-dialect",
      "registerItem: `force` was asked for, and the dialect has no name for it (register.force)",
    );
  }
  const { query } = placeBusinessId(context.keyReach, options.businessId, "query");
  const body: Record<string, unknown> = branchField(register.branch, register.branchBy, branch);
  if (force === true && register.force !== null) body[register.force] = true;
  const op = operation("registerItem");
  const request = { path: pathWithId(op.path, itemId), query, bodyJson: composeBody(body) };
  return callOperation(context, op, request, readItem, options);
}

const readDocument: ReadBody<SaleDocument> = bodyOf(saleAnswerSchema, (body) => body.data.sale);

export interface KeyedCallOptions extends CallOptions {
  idempotencyKey: string;
}

/** GET /v1/sales/{id}: a sale or a credit note. */
export async function getSale(
  context: ClientContext,
  saleId: string,
  options: BusinessCallOptions = {},
): Promise<Result<SaleDocument>> {
  const { query } = placeBusinessId(context.keyReach, options.businessId, "query");
  const op = operation("getSale");
  return callOperation(context, op, { path: pathWithId(op.path, saleId), query }, readDocument, options);
}

/** POST /v1/sales, verbatim, and without a key where none is given. */
export async function createSale(
  context: ClientContext,
  composed: ComposedRequest,
  options: Partial<KeyedCallOptions> = {},
): Promise<Result<SaleDocument>> {
  return sendComposed(context, "createSale", composed, options);
}

/** POST /v1/credit-notes, verbatim. */
export async function createCreditNote(
  context: ClientContext,
  composed: ComposedRequest,
  options: KeyedCallOptions,
): Promise<Result<SaleDocument>> {
  return sendComposed(context, "createCreditNote", composed, options);
}

/** POST /v1/sales/{id}/retry: a sale or a credit note that did not reach the tax authority, or was rejected. */
export async function retrySale(
  context: ClientContext,
  saleId: string,
  options: BusinessCallOptions = {},
): Promise<Result<SaleDocument>> {
  const { query, body } = placeBusinessId(context.keyReach, options.businessId, context.dialect.retry.businessIdIn);
  const op = operation("retrySale");
  const bodyJson = Object.keys(body).length === 0 ? undefined : composeBody(body);
  return callOperation(context, op, { path: pathWithId(op.path, saleId), query, bodyJson }, readDocument, options);
}

async function sendComposed(
  context: ClientContext,
  name: "createSale" | "createCreditNote",
  composed: ComposedRequest,
  options: Partial<KeyedCallOptions>,
): Promise<Result<SaleDocument>> {
  const { method, path, query, bodyJson } = composed;
  if (method !== "POST" || !path.startsWith("/")) {
    throw new ComplianceInputError("invalid-argument", `${name}: not a composed request (${method} ${path})`);
  }
  const { idempotencyKey } = options;
  if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY_PATTERN.test(idempotencyKey)) {
    throw new ComplianceInputError(
      "invalid-argument",
      `${name}: an Idempotency-Key is 8 to 128 characters out of A-Z a-z 0-9 . _ : -, not ${JSON.stringify(idempotencyKey)}`,
    );
  }
  const request = { path, query, bodyJson, idempotencyKey };
  return callOperation(context, operation(name), request, readDocument, options);
}

export interface ListPurchasesInput {
  /** The `nextCursor` of the page before, unchanged. */
  cursor?: string | undefined;
  /** 1 to 100; the API refuses what is outside. */
  pageSize?: number | undefined;
  /** `pulled`, `pending_review`, `confirmed` or `rejected`. */
  status?: string | undefined;
  /** Documents on or after it, `YYYY-MM-DD`. */
  from?: string | undefined;
  /** Documents on or before it, `YYYY-MM-DD`. */
  to?: string | undefined;
}

export interface PurchasesPage {
  purchases: Purchase[];
  /** `null` on the last page. */
  nextCursor: string | null;
  pageSize?: number;
}

const readPage: ReadList<PurchasesPage> = rowsOf({
  path: ["data", "purchases"],
  body: purchasesAnswerSchema,
  row: purchaseSchema,
  names: ["id"],
  data: ({ pagination }, purchases) => ({
    purchases,
    nextCursor: pagination.nextCursor,
    ...(pagination.pageSize === undefined ? {} : { pageSize: pagination.pageSize }),
  }),
});

/** GET /v1/purchases: one page of the stored supplier invoices, newest first. */
export async function listPurchases(
  context: ClientContext,
  input: ListPurchasesInput,
  options: BusinessCallOptions = {},
): Promise<Result<PurchasesPage>> {
  const { purchases: names } = context.dialect;
  if (input.cursor !== undefined && names.cursor === null) {
    // Sent without it, the first page would come again, for ever.
    throw new ComplianceInputError(
      "not-in-dialect",
      "listPurchases: there is a next page, and the dialect has no name for the cursor (purchases.cursor)",
    );
  }
  const business = placeBusinessId(context.keyReach, options.businessId, "query");
  const query: Record<string, string> = { ...business.query };
  for (const [name, value] of Object.entries(underNames(names, input))) query[name] = String(value);
  const op = operation("listPurchases");
  return callOperation(context, op, { path: op.path, query }, readPage, options);
}

/**
 * POST /v1/purchases/pull: the service fetches the latest invoices. Its answer is not shown: any 2xx counts, its body
 * is passed on.
 */
export async function pullPurchases(
  context: ClientContext,
  options: BusinessCallOptions = {},
): Promise<Result<unknown>> {
  const { path, businessIdIn } = context.dialect.pull;
  const { query, body } = placeBusinessId(context.keyReach, options.businessId, businessIdIn);
  const bodyJson = Object.keys(body).length === 0 ? undefined : composeBody(body);
  const read: ReadBody<unknown> = ({ json }) => ({ data: json });
  return callOperation(context, operation("pullPurchases"), { path, query, bodyJson }, read, options);
}

export interface AdjustStockInput {
  itemId: string;
  action: StockAction;
  quantity: number;
  unitPrice?: number | undefined;
  /** The movement's own reference, at most 100 characters. */
  referenceId: string;
  branch?: Branch | undefined;
}

/**
 * POST /v1/stock/adjustments: a separate movement each time, not de-duplicated by the service. Sent once, on a fresh
 * connection.
 */
export async function adjustStock(
  context: ClientContext,
  input: AdjustStockInput,
  options: BusinessCallOptions = {},
): Promise<Result<StockAdjustment>> {
  const { stock } = context.dialect;
  const { itemId, action, quantity, unitPrice, referenceId } = input;
  const business = placeBusinessId(context.keyReach, options.businessId, stock.businessIdIn);
  const branch = branchField(stock.branch, stock.branchBy, input.branch);
  const bodyJson = composeBody({ ...business.body, itemId, action, quantity, unitPrice, referenceId, ...branch });
  const op = operation("adjustStock");
  const request = { path: op.path, query: business.query, bodyJson };
  return callOperation(context, op, request, readAdjustment(input, stock.report), options);
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

/**
 * A 201 that names a `movementId` is an applied movement, whatever else the body holds (failure model): nothing else is
 * required, since a refused body would turn a movement that was made into one whose outcome is unknown. A missing item
 * or branch is taken from the request; a branch that nobody named is `""`.
 */
function readAdjustment(input: AdjustStockInput, reportName: string | null): ReadBody<StockAdjustment> {
  return bodyOf(movementSchema, ({ data }) => {
    // `null` is no report either: the dialect's name is the product's own guess, and only a report that is there can be
    // wrong.
    const report = reportName === null ? undefined : (field(data, reportName) ?? undefined);
    const stockIo = statusOf(report, "stockIo");
    const stockMaster = statusOf(report, "stockMaster");
    return {
      itemId: data.itemId ?? input.itemId,
      branchId: data.branchId ?? input.branch?.id ?? "",
      movementId: data.movementId,
      ...(data.quantityOnHand === undefined ? {} : { quantityOnHand: data.quantityOnHand }),
      ...(report === undefined
        ? {}
        : {
            report: {
              ...(stockIo === undefined ? {} : { stockIo }),
              ...(stockMaster === undefined ? {} : { stockMaster }),
            },
          }),
    };
  });
}

function statusOf(report: unknown, part: string): string | undefined {
  const status = field(field(report, part), "status");
  return typeof status === "string" ? status : undefined;
}
