import type { Decision as OperatorsDecision, DocumentRow, StockMovement } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { clockMs } from "../statements.ts";
import type { Business } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import type { Decision } from "./claims.ts";
import { movementOf, outcomeOf, type StockRow } from "./movement.ts";

/**
 * The movements of a document, in the order in which they were taken first: as their rows have them, whichever run sent
 * them, and whoever decided. One that was closed unsent, or never taken, is none.
 * @param decisions what operators decided on the document: who acknowledges a refused movement gives it up
 */
export async function movementsOf(
  db: Queries,
  business: Business,
  { type, number }: Pick<DocumentRow, "type" | "number">,
  decisions: readonly OperatorsDecision[],
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
    if (!moved || row.purpose === null || row.state === "buried") return [];
    const { branch: _sentTo, ...movement } = moved;
    const { reference_id: referenceId, purpose, undoes, quantity_on_hand, decision } = row;
    const outcome = outcomeOf(row);
    const applied = outcome?.kind === "applied" ? outcome : undefined;
    const branchId = row.branch_id ?? row.branch;
    return {
      referenceId,
      purpose,
      ...movement,
      state: stateOf(row, nowMs, givenUp),
      ...(branchId !== null && { branchId }),
      ...(applied && { movementId: applied.movementId }),
      ...(quantity_on_hand !== null && { quantityOnHand: Number(quantity_on_hand) }),
      ...(applied?.report && { report: applied.report }),
      ...(undoes !== null && { undoes }),
      sentAtMs: applied?.sentAtMs ?? row.taken_at.getTime(),
      ...(decision !== null && { decision: decision as Decision }),
    };
  });
}

/** A movement that was put off, or that an operator knows not to be made, is sent again by whichever run carries it on. */
function stateOf(row: StockRow, nowMs: number, givenUp: ReadonlySet<string | undefined>): StockMovement["state"] {
  if (row.state === "applied") return "applied";
  if (row.state === "held") return (row.under_way_until?.getTime() ?? 0) > nowMs ? "sending" : "unknown";
  const outcome = outcomeOf(row);
  if (outcome?.kind !== "not-applied" || outcome.putOff) return "planned";
  return givenUp.has(row.reference_id) ? "dropped" : "refused";
}
