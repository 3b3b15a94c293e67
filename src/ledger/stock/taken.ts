import { saleWorkflowId, stockReferenceId, type StockMovement, type TakenMovement } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";
import type { TakenRequest } from "./claims.ts";
import { keyColumns, movementOf, type StockRow, unknownAnswer } from "./row.ts";

/**
 * The deductions of a sale that are known to be applied, and those of which it is not known, by whichever run. Nothing
 * where the ledger knows another document under the sale's number: what was taken under the number belongs to that one.
 */
export async function taken(db: Queries, request: TakenRequest): Promise<TakenMovement[]> {
  if (await belongsToAnother(db, request)) return [];
  const { connection, business_id } = keyColumns({ ...request, referenceId: "" });
  const kept = await db
    .selectFrom("stock_movements")
    .select("item_id")
    .where((eb) => eb.and({ connection, business_id }))
    .where("type", "=", "sale")
    .where("number", "=", storableText(request.number))
    .where("purpose", "=", "sold")
    .execute();
  const { number, itemIds } = request;
  // At several prices there are at most as many movements of an item as there are lines.
  const undoneBy = new Map([
    ...reversals(
      number,
      kept.map(({ item_id }) => item_id),
    ),
    ...reversals(number, itemIds),
  ]);
  const references = [...new Set([...undoneBy].flat())];
  if (references.length === 0) return [];
  const rows = await db
    .selectFrom("stock_claims")
    .selectAll()
    .where((eb) => eb.and({ connection, business_id }))
    .where("reference_id", "in", references)
    .where("state", "in", ["applied", "held"])
    .orderBy("taken_order")
    .execute();
  const claimed = new Set(rows.map(({ reference_id }) => reference_id));
  return rows.flatMap((row) => {
    const movement = movementOf(row);
    if (movement?.action !== "DEDUCT") return [];
    const branch = row.branch_id ?? row.branch;
    return {
      referenceId: row.reference_id,
      itemId: movement.itemId,
      quantity: movement.quantity,
      unitPrice: movement.unitPrice,
      ...(branch !== null && { branchId: branch }),
      ...(row.state === "held" && { unknown: unknownOf(row) }),
      ...(claimed.has(undoneBy.get(row.reference_id) ?? "") && { givenBack: true as const }),
    };
  });
}

/**
 * Whether anything that a sale has taken was given back, or may have been, by a run that gave the sale up. What it shows
 * as given back does not count.
 */
export async function isAnyGivenBack(
  db: Queries,
  business: Pick<TakenRequest, "connection" | "businessId">,
  { number, movements }: { number: string; movements: readonly StockMovement[] },
): Promise<boolean> {
  const shown = new Set(movements.map(({ undoes }) => undoes));
  const sold = movements.filter(({ purpose }) => purpose === "sold");
  const undoneBy = reversals(
    number,
    sold.map(({ itemId }) => itemId),
  );
  const undone = sold.flatMap(({ state, referenceId }) =>
    state === "applied" && !shown.has(referenceId) ? (undoneBy.get(referenceId) ?? []) : [],
  );
  if (undone.length === 0) return false;
  const { connection, business_id } = keyColumns({ ...business, referenceId: "" });
  const found = await db
    .selectFrom("stock_claims")
    .select("reference_id")
    .where((eb) => eb.and({ connection, business_id }))
    .where("reference_id", "in", undone)
    .where("state", "in", ["applied", "held"])
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * What would give each movement back that a sale may have taken, by the reference of what was taken.
 * @param itemIds an item as often as it may have been taken, each time at another price
 */
function reversals(number: string, itemIds: readonly string[]): Map<string, string> {
  const counts = new Map<string, number>();
  for (const itemId of itemIds) counts.set(itemId, (counts.get(itemId) ?? 0) + 1);
  const reference = (itemId: string, purpose: "sold" | "undone", part?: number): string =>
    stockReferenceId(number, itemId, purpose, part);
  return new Map(
    [...counts].flatMap(([itemId, count]) =>
      [undefined, ...(count > 1 ? Array.from({ length: count }, (_, at) => at + 1) : [])].map(
        (part) => [reference(itemId, "sold", part), reference(itemId, "undone", part)] as const,
      ),
    ),
  );
}

function unknownOf(row: StockRow): TakenMovement["unknown"] {
  const { generation, message, evidence } = unknownAnswer(row);
  return { generation, sentAtMs: row.taken_at.getTime(), message, evidence };
}

async function belongsToAnother(
  db: Queries,
  { connection, businessId, number, saleId }: TakenRequest,
): Promise<boolean> {
  const { business_id } = keyColumns({ connection, businessId, referenceId: "" });
  const claimed = await db
    .selectFrom("document_claims")
    .select("document_id")
    .where("workflow_id", "=", saleWorkflowId({ connection, businessId, traderInvoiceNumber: number }))
    .execute();
  const kept = await db
    .selectFrom("documents")
    .select("document_id")
    .where((eb) => eb.and({ connection, business_id }))
    .where("type", "=", "sale")
    .where("number", "=", storableText(number))
    .execute();
  const known = [...claimed, ...kept].flatMap(({ document_id }) => (document_id === null ? [] : [document_id]));
  return known.length > 0 && !known.includes(saleId);
}
