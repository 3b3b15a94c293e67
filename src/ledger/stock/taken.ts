import type { TakenMovement } from "../../contract/index.ts";
import { type RawBuilder, sql } from "kysely";
import { heldAnswer } from "../claims/answers.ts";
import type { Queries } from "../database.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import type { TakenRequest } from "./claims.ts";
import type { StockRow } from "./movement.ts";

/** Made, or of unknown outcome. */
const MAY_BE_MADE = ["applied", "held"] as const;

/** Whether another movement, which may be made, gives the goods of the movement `m` back, since the sale was given up. */
const IS_GIVEN_BACK: RawBuilder<boolean> = sql`exists (
  select from movements as u
  where (u.connection, u.business_id, u.undoes) = (m.connection, m.business_id, m.reference_id)
    and u.purpose = 'undone' and u.state in ('applied', 'held'))`;

/**
 * The deductions of a sale that are known to be applied, and those of which it is not known, by whichever run. Nothing
 * where the ledger knows another document under the sale's number: what was taken under the number belongs to that one.
 */
export async function taken(db: Queries, request: TakenRequest): Promise<TakenMovement[]> {
  if (await belongsToAnother(db, request)) return [];
  const of = { type: "sale" as const, number: storableText(request.number), purpose: "sold" as const };
  const rows = await db
    .selectFrom("movements as m")
    .where((eb) => eb.and({ ...businessColumns(request), ...of }))
    .selectAll()
    .select(IS_GIVEN_BACK.as("given_back"))
    .where("state", "in", MAY_BE_MADE)
    .orderBy("taken_order")
    .execute();
  return rows.flatMap((row) => {
    if (row.item_id === null) return [];
    const branch = row.branch_id ?? row.branch;
    return {
      referenceId: row.reference_id,
      itemId: row.item_id,
      quantity: Number(row.quantity),
      unitPrice: Number(row.unit_price),
      ...(branch !== null && { branchId: branch }),
      ...(row.state === "held" && { unknown: unknownOf(row) }),
      ...(row.given_back && { givenBack: true as const }),
    };
  });
}

/**
 * For a statement: whether anything that a sale has taken was given back, or may have been, by a run that gave the sale
 * up.
 */
export function anyGivenBack(business: Pick<TakenRequest, "connection" | "businessId">, number: string) {
  const { connection, business_id } = businessColumns(business);
  return sql<boolean>`exists (
    select from movements as m
    where (m.connection, m.business_id, m.type, m.number) = (${connection}, ${business_id}, 'sale', ${storableText(number)})
      and m.purpose = 'sold' and m.state = 'applied' and ${IS_GIVEN_BACK})`;
}

function unknownOf(row: StockRow): TakenMovement["unknown"] {
  const { generation, message, evidence } = heldAnswer(row);
  return { generation, sentAtMs: row.taken_at.getTime(), message, evidence };
}

async function belongsToAnother(
  db: Queries,
  { connection, businessId, number, saleId }: TakenRequest,
): Promise<boolean> {
  const row = await db
    .selectFrom("documents")
    .select(["document_id", "claimed_id"])
    .where((eb) => eb.and(businessColumns({ connection, businessId })))
    .where("type", "=", "sale")
    .where("number", "=", storableText(number))
    .executeTakeFirst();
  const known = [row?.document_id, row?.claimed_id].filter((id) => typeof id === "string");
  return known.length > 0 && !known.includes(saleId);
}
