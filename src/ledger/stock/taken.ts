import {
  reversalReferenceId,
  saleWorkflowId,
  stockReferenceId,
  type StockMovement,
  type TakenMovement,
} from "../../contract/index.ts";
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
    .select(["reference_id", "item_id"])
    .where((eb) => eb.and({ connection, business_id }))
    .where("type", "=", "sale")
    .where("number", "=", storableText(request.number))
    .where("purpose", "=", "sold")
    .execute();
  const { number, itemIds } = request;
  /** What would have given each back, by the reference of what may have been taken. */
  const undoneBy = new Map<string, string>();
  const mayBeTaken = (itemId: string, part?: number): void =>
    void undoneBy.set(stockReferenceId(number, itemId, "sold", part), stockReferenceId(number, itemId, "undone", part));
  for (const itemId of new Set([...itemIds, ...kept.map(({ item_id }) => item_id)])) {
    mayBeTaken(itemId);
    // At several prices there are at most as many movements of an item as there are lines.
    const lines = itemIds.filter((one) => one === itemId).length;
    for (let part = 1; lines > 1 && part <= lines; part++) mayBeTaken(itemId, part);
  }
  for (const { reference_id: taken, item_id: itemId } of kept) {
    const undone =
      undoneBy.get(taken) ?? reversalReferenceId(taken, { soldAs: number, itemId, number, purpose: "undone" });
    undoneBy.set(taken, undone);
  }
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
 * Whether anything that a sale has taken was given back, or may have been, by a run that gave the sale up.
 * @param sale of what is shown in it as given back, nothing is asked
 */
export async function isAnyGivenBack(
  db: Queries,
  business: Pick<TakenRequest, "connection" | "businessId">,
  { number, movements }: { number: string; movements: readonly StockMovement[] },
): Promise<boolean> {
  const shown = new Set(movements.map(({ undoes }) => undoes));
  const undone = movements.flatMap(({ purpose, state, referenceId, itemId }) => {
    if (purpose !== "sold" || state !== "applied" || shown.has(referenceId)) return [];
    return reversalReferenceId(referenceId, { soldAs: number, itemId, number, purpose: "undone" });
  });
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
