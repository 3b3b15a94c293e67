import type { SaleInput } from "../../contract/index.ts";
import { InvalidInputError, parseInput, saleInputSchema } from "../../contract/schema/index.ts";
import { UsageError } from "../cli-error.ts";
import type { Scope } from "./scope.ts";

export interface SalesRead {
  sales: SaleInput[];
  /** Whether the file holds a list, so that the result is one too. */
  isList: boolean;
}

/**
 * The sales of a file, one or a list, with what the flags say of their connection and business. All are checked before
 * any is started.
 * @throws InvalidInputError with every problem, UsageError
 */
export function readSales(json: unknown, scope: Scope): SalesRead {
  const isList = Array.isArray(json);
  const entries: unknown[] = isList ? json : [json];
  if (entries.length === 0) throw new UsageError("The list of sales is empty: there is nothing to start.");
  const problems: string[] = [];
  const sales: SaleInput[] = [];
  for (const [index, entry] of entries.entries()) {
    const place = isList ? `[${index}].` : "";
    try {
      sales.push(parseInput(saleInputSchema, scoped(entry, scope, problems, place), "sale input"));
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      problems.push(...error.problems.map((problem) => `${place}${problem}`));
    }
  }
  if (problems.length > 0) throw new InvalidInputError("sale input", problems);
  return { sales, isList };
}

/** The flags fill in what the file leaves open; a file that says otherwise was meant for somewhere else. */
function scoped(entry: unknown, scope: Scope, problems: string[], place: string): unknown {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return entry;
  const sale: Record<string, unknown> = { ...entry };
  for (const [field, flag, value] of [
    ["connection", "--connection", scope.connection],
    ["businessId", "--business", scope.business],
  ] as const) {
    if (value === undefined) continue;
    if (sale[field] !== undefined && sale[field] !== value) {
      problems.push(`${place}${field}: expected ${JSON.stringify(value)}, as ${flag} says; the file says otherwise`);
    }
    sale[field] ??= value;
  }
  return sale;
}
