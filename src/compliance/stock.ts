import { z } from "zod";
import type { Branch } from "../contract/calls.ts";
import type { StockAdjustment } from "../contract/documents.ts";
import type { StockAction } from "../contract/stock-movement.ts";
import { branchField } from "./branch-selector.ts";
import { type BusinessCallOptions, callOperation, type ClientContext, type Result } from "./call-operation.ts";
import { composeBody } from "./composed-request.ts";
import { field } from "./error-envelope.ts";
import { placeBusinessId } from "./key-reach.ts";
import { operation } from "./operations.ts";
import { bodyOf, type ReadBody } from "../http/read-body.ts";

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
