import { type BusinessCallOptions, callOperation, type ClientContext, type Result } from "./call-operation.ts";
import { composeBody, underNames } from "./composed-request.ts";
import { ComplianceInputError } from "./errors.ts";
import { placeBusinessId } from "./key-reach.ts";
import { operation } from "./operations.ts";
import { type ReadBody, type ReadList, rowsOf } from "../http/read-body.ts";
import { type Purchase, purchasesAnswerSchema, purchaseSchema } from "./schemas.ts";

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
