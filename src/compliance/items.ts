import type { Branch } from "../contract/calls.ts";
import type { Item } from "../contract/documents.ts";
import { branchField } from "./branch-selector.ts";
import {
  type BusinessCallOptions,
  callOperation,
  type ClientContext,
  pathWithId,
  type Result,
} from "./call-operation.ts";
import { composeBody } from "./composed-request.ts";
import { ComplianceInputError } from "./errors.ts";
import { placeBusinessId } from "./key-reach.ts";
import { operation } from "./operations.ts";
import { bodyOf, type ReadBody, type ReadList, rowsOf } from "../http/read-body.ts";
import { itemAnswerSchema, itemsAnswerSchema, itemSchema } from "./schemas.ts";

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
