import type { WorkflowExecutionInfo } from "@temporalio/client";
import { z } from "zod";

import { UnknownConnectionError } from "./errors.ts";
import { NO_BUSINESS, saleWorkflowId } from "../contract/ids.ts";
import { DEFAULT_CONNECTION, keywordValue, SEARCH_ATTRIBUTES } from "../contract/names.ts";
import type { SaleInput } from "../contract/schema/sale.ts";
import { InvalidInputError } from "../contract/schema/parse-input.ts";

/** What names a sale to its callers. */
export interface SaleKey {
  invoice: string;
  workflowId?: undefined;
  connection?: string | undefined;
  businessId?: string | undefined;
}

/**
 * What an operator's answer goes to: a sale, or any workflow by its id. What `listAttention` lists is one: its id
 * counts, and not the number beside it, which a correction has too.
 */
export type UpdateTarget = SaleKey | { workflowId: string };

/** @throws UnknownConnectionError */
export function requireConnection(connections: readonly string[], connection: string = DEFAULT_CONNECTION): void {
  if (!connections.includes(connection)) throw new UnknownConnectionError(connection, connections);
}

/**
 * The workflow's id has the business, also where the workers know which one is meant: under another id they refuse the
 * sale.
 * @throws InvalidInputError
 */
export function requireBusiness({ connection = DEFAULT_CONNECTION, businessId }: SaleInput): void {
  if (businessId !== undefined) return;
  const expected = `expected a business, since no default of connection "${connection}" is known here (\`businesses\` of createStarter; on the command line COMPLIANCE_BUSINESS_ID or --business)`;
  throw new InvalidInputError("sale input", [`businessId: ${expected}, found nothing`]);
}

export function saleKeyOf({
  traderInvoiceNumber: invoice,
  connection,
  businessId,
}: Pick<SaleInput, "traderInvoiceNumber" | "connection" | "businessId">): SaleKey {
  return {
    invoice,
    ...(connection !== undefined && { connection }),
    ...(businessId !== undefined && { businessId }),
  };
}

export function saleIdOf({ invoice, connection = DEFAULT_CONNECTION, businessId }: SaleKey): string {
  return saleWorkflowId({ connection, businessId, traderInvoiceNumber: invoice });
}

const KEY = "{ invoice: string, connection?: string, businessId?: string }";
const keySchema = z.object({
  invoice: z.string(),
  workflowId: z.undefined().optional(),
  connection: z.string().optional(),
  businessId: z.string().optional(),
});
const targetSchema = z.union([z.object({ workflowId: z.string().min(1) }), keySchema]);

/** Plain JavaScript passes anything. @throws InvalidInputError */
export function requireKey(key: SaleKey): void {
  if (!keySchema.safeParse(key).success) throw new InvalidInputError("name of the sale", [`expected ${KEY}`]);
}

/** @throws InvalidInputError */
export function requireTarget(target: UpdateTarget): void {
  if (!targetSchema.safeParse(target).success)
    throw new InvalidInputError("target of the update", [`expected ${KEY}, or { workflowId: string }`]);
}

export function attributesOf({
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, "typedSearchAttributes">): ReadonlyMap<string, string> {
  return new Map(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, String(value)]));
}

export function attributesOfSale({ invoice, businessId }: SaleKey, stage?: string) {
  const { business, invoice: number, stage: stands } = SEARCH_ATTRIBUTES;
  const values = [
    [business, businessId ?? NO_BUSINESS],
    [number, keywordValue(invoice)],
    ...(stage === undefined ? [] : [[stands, stage] as const]),
  ] as const;
  return values.map(([name, value]) => ({ key: { name, type: "KEYWORD" as const }, value }));
}
