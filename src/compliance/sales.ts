import type { SaleDocument } from "../contract/documents.ts";
import { IDEMPOTENCY_KEY_PATTERN } from "../contract/ids.ts";
import {
  type BusinessCallOptions,
  type CallOptions,
  callOperation,
  type ClientContext,
  pathWithId,
  type Result,
} from "./call-operation.ts";
import { composeBody, type ComposedRequest } from "./composed-request.ts";
import { ComplianceInputError } from "./errors.ts";
import { placeBusinessId } from "./key-reach.ts";
import { operation } from "./operations.ts";
import { bodyOf, type ReadBody } from "../http/read-body.ts";
import { saleAnswerSchema } from "./schemas.ts";

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
