import { FiscalflowError } from "../contract/errors.ts";
import { saleWorkflowId } from "../contract/ids.ts";
import { DEFAULT_CONNECTION } from "../contract/names.ts";
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

/** The sale names a connection that nobody has configured; nothing was started. */
export class UnknownConnectionError extends FiscalflowError {
  override readonly name = "UnknownConnectionError";
  override readonly code = "UnknownConnection";
  /** The connections that exist. */
  readonly connections: readonly string[];

  constructor(connection: string, connections: readonly string[]) {
    const known =
      connections.length === 0
        ? "No connection is configured: set COMPLIANCE_BASE_URL and COMPLIANCE_API_KEY, or FISCALFLOW_CONFIG, as for the worker."
        : `Configured: ${connections.join(", ")}.`;
    super(`The connection "${connection}" is not configured here, so nothing was done. ${known}`);
    this.connections = connections;
  }
}

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

/** Of the sale that is started with this input. */
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

/** Plain JavaScript passes anything. @throws InvalidInputError */
export function requireKey(key: SaleKey): void {
  if (!isKey(key)) throw new InvalidInputError("name of the sale", [`expected ${KEY}`]);
}

/** @throws InvalidInputError */
export function requireTarget(target: UpdateTarget): void {
  const { workflowId } = { ...target };
  const isId = typeof workflowId === "string" && workflowId !== "";
  if (!isId && !isKey(target))
    throw new InvalidInputError("target of the update", [`expected ${KEY}, or { workflowId: string }`]);
}

function isKey(key: unknown): boolean {
  if (typeof key !== "object" || key === null) return false;
  const { invoice, connection, businessId, workflowId } = key as Record<string, unknown>;
  const areTexts = [connection, businessId].every((part) => part === undefined || typeof part === "string");
  return typeof invoice === "string" && areTexts && workflowId === undefined;
}
