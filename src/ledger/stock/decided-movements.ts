import { setApplied, type StockMovement } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Business } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import type { Decision } from "./claims.ts";
import { outcomeOf, type StockRow } from "./row.ts";

/**
 * A run that has ended does not learn what became of its unknown movements: an operator answers in another run, its
 * credit note's for example, or the service's answer comes late. The claim knows, and it counts wherever the run's
 * record is read. What is known not to be applied is planned, as before it was sent: a restart sends it, and a run that
 * goes on does so itself.
 */

/** As a run writes it where it knows no better. */
const OPEN = ["unknown", "sending"];

/** Movements as a record has them, with what their rows know by now. @param isOver no run carries them on */
export async function decidedByClaims(
  db: Queries,
  business: Business,
  movements: readonly StockMovement[],
  isOver: boolean,
): Promise<StockMovement[]> {
  const open = movements
    .filter(({ state }) => OPEN.includes(state))
    .map(({ referenceId }) => storableText(referenceId));
  if (open.length === 0) return [...movements];
  const rows = await db
    .selectFrom("movements")
    .selectAll()
    .where((eb) => eb.and(businessColumns(business)))
    .where("reference_id", "in", open)
    .where("state", "in", isOver ? ["applied", "not-applied"] : ["applied"])
    .execute();
  const claims = new Map(rows.map((row) => [row.reference_id, row]));
  return movements.map((movement) => {
    const row = OPEN.includes(movement.state) ? claims.get(storableText(movement.referenceId)) : undefined;
    return row ? asClaimed(movement, row) : movement;
  });
}

function asClaimed(movement: StockMovement, row: StockRow): StockMovement {
  const decided: StockMovement = { ...movement, state: row.state === "applied" ? "applied" : "planned" };
  const outcome = outcomeOf(row);
  if (outcome?.kind === "applied") setApplied(decided, outcome);
  const decision = row.decision as Decision | null;
  if (decision) decided.decision = { ...movement.decision, ...decision };
  return decided;
}
