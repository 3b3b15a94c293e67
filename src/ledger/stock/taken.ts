import type { TakenMovement } from "../../contract/index.ts";
import { saleWorkflowId } from "../../contract/index.ts";
import { type RawBuilder, sql } from "kysely";
import type { Queries } from "../database.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import type { TakenRequest } from "./claims.ts";
import { type StockRow, unknownAnswer } from "./row.ts";

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
  const rows = await sold(db, request, request.number)
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

/** What a sale takes from stock. */
function sold(db: Queries, business: Pick<TakenRequest, "connection" | "businessId">, number: string) {
  const of = {
    ...businessColumns(business),
    type: "sale" as const,
    number: storableText(number),
    purpose: "sold" as const,
  };
  return db.selectFrom("movements as m").where((eb) => eb.and(of));
}

/** Whether anything that a sale has taken was given back, or may have been, by a run that gave the sale up. */
export async function isAnyGivenBack(
  db: Queries,
  business: Pick<TakenRequest, "connection" | "businessId">,
  number: string,
): Promise<boolean> {
  const found = await sold(db, business, number)
    .select("reference_id")
    .where("state", "=", "applied")
    .where(IS_GIVEN_BACK)
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
  const claimed = await db
    .selectFrom("document_claims")
    .select("document_id")
    .where("workflow_id", "=", saleWorkflowId({ connection, businessId, traderInvoiceNumber: number }))
    .execute();
  const kept = await db
    .selectFrom("documents")
    .select("document_id")
    .where((eb) => eb.and(businessColumns({ connection, businessId })))
    .where("type", "=", "sale")
    .where("number", "=", storableText(number))
    .execute();
  const known = [...claimed, ...kept].flatMap(({ document_id }) => (document_id === null ? [] : [document_id]));
  return known.length > 0 && !known.includes(saleId);
}
