import { type RawBuilder, sql } from "kysely";

import type { Decision, DocumentRow, MovementDecision, StockMovement, TakenMovement } from "../../contract/index.ts";
import { heldAnswer } from "../claims/at-most-once.ts";
import type { Queries } from "../database.ts";
import { type Business, businessColumns } from "../events/chain.ts";
import { clockMs } from "../statements.ts";
import { storableText } from "../storable-text.ts";
import { movementOf, outcomeOf, type StockRow } from "./movement.ts";

/**
 * The movements of a document, in the order in which they were taken first: as their rows have them, whichever run sent
 * them, and whichever operator decided. One that was closed unsent, or never taken, is none.
 * @param decisions what operators decided on the document: who acknowledges a refused movement gives it up
 */
export async function movementsOf(
  db: Queries,
  business: Business,
  { type, number }: Pick<DocumentRow, "type" | "number">,
  decisions: readonly Decision[],
): Promise<StockMovement[]> {
  const rows = await db
    .selectFrom("movements")
    .selectAll()
    .where((eb) => eb.and({ ...businessColumns(business), type, number: storableText(number) }))
    .orderBy("taken_order")
    .execute();
  if (rows.length === 0) return [];
  const nowMs = await clockMs(db);
  const givenUp = new Set(decisions.flatMap(({ update, subject }) => (update === "acknowledge" ? [subject] : [])));
  return rows.flatMap((row) => {
    const moved = movementOf(row);
    if (!moved || row.purpose === null || row.state === "closed") return [];
    const { branch: _sentTo, ...movement } = moved;
    const { reference_id: referenceId, purpose, undoes, quantity_on_hand, decision } = row;
    const outcome = outcomeOf(row);
    const applied = outcome?.kind === "applied" ? outcome : undefined;
    const branchId = row.branch_id ?? row.branch;
    return {
      referenceId,
      purpose,
      ...movement,
      state: movementStateOf(row, nowMs, givenUp),
      ...(branchId !== null && { branchId }),
      ...(applied && { movementId: applied.movementId }),
      ...(quantity_on_hand !== null && { quantityOnHand: Number(quantity_on_hand) }),
      ...(applied?.report && { report: applied.report }),
      ...(undoes !== null && { undoes }),
      sentAtMs: applied?.sentAtMs ?? row.taken_at.getTime(),
      ...(decision !== null && { decision: decision as MovementDecision }),
    };
  });
}

/** A movement that was put off, or that an operator knows not to be made, is sent again by whichever run carries it on. */
function movementStateOf(
  row: StockRow,
  nowMs: number,
  givenUp: ReadonlySet<string | undefined>,
): StockMovement["state"] {
  if (row.state === "applied") return "applied";
  if (row.state === "held") return (row.under_way_until?.getTime() ?? 0) > nowMs ? "sending" : "unknown";
  const outcome = outcomeOf(row);
  if (outcome?.kind !== "not-applied" || outcome.putOff) return "planned";
  return givenUp.has(row.reference_id) ? "dropped" : "refused";
}

/** Asks what a sale has taken from stock. */
export interface GoodsTakenRequest extends Business {
  /** The sale's own number, and the document that has it. */
  number: string;
  saleId: string;
}

/** Made, or of unknown outcome. */
const MAY_BE_MADE = ["applied", "held"] as const;

/** Whether another movement, which may be made, gives the goods of the movement `m` back, since the sale was given up. */
const IS_GIVEN_BACK: RawBuilder<boolean> = sql`exists (
  select from movements as u
  where (u.connection, u.business_id, u.undoes) = (m.connection, m.business_id, m.reference_id)
    and u.purpose = 'undone' and u.state in (${sql.join(MAY_BE_MADE.map((state) => sql.lit(state)))}))`;

/**
 * The deductions of a sale that are known to be applied, and those of which it is not known, by whichever run. Nothing
 * if the ledger knows another document under the sale's number: what was taken under the number belongs to that one.
 */
export async function goodsTaken(db: Queries, request: GoodsTakenRequest): Promise<TakenMovement[]> {
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
export function anyGivenBack(business: Business, number: string) {
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
  { connection, businessId, number, saleId }: GoodsTakenRequest,
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
