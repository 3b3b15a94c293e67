import { sql } from "kysely";

import type { Queries } from "../database.ts";
import { businessColumns } from "../events/chain.ts";
import { storableText } from "../storable-text.ts";
import { type MovementKey, outcomeOf, type StockRow } from "./movement.ts";

export interface Balance {
  quantityOnHand: number;
  /** When the movement was sent whose answer has it. */
  atMs: number;
  referenceId: string;
}

export interface BalanceEvidence {
  before?: Balance;
  after?: Balance;
  /** In the order in which they were taken. `unknown`: whether, or on which side of a balance, it was applied. */
  between: { referenceId: string; action: "ADD" | "DEDUCT"; quantity: number; state: "applied" | "unknown" }[];
}

/** So many movements on either side of one are looked at; more would not fit a page that people read. */
const MOST = 200;

export async function balanceAround(db: Queries, key: MovementKey): Promise<BalanceEvidence | undefined> {
  const row = await db
    .selectFrom("movements")
    .selectAll()
    .where((eb) => eb.and({ ...businessColumns(key), reference_id: storableText(key.referenceId) }))
    .executeTakeFirst();
  if (row === undefined || row.item_id === null) return undefined;
  const taken = orderOf(row.taken_order);
  const home = await homeBranch(db, key, row);
  const of = (): ReturnType<typeof sameStock> => sameStock(db, key, row, home);

  const [before] = await of()
    .where("state", "=", "applied")
    .where("quantity_on_hand", "is not", null)
    .where("settled_order", "<", row.taken_order)
    .orderBy("settled_order", "desc")
    .limit(1)
    .execute();
  const [after] = await of()
    .where("state", "=", "applied")
    .where("quantity_on_hand", "is not", null)
    .where("taken_order", ">", row.taken_order)
    .orderBy("taken_order")
    .limit(1)
    .execute();
  if (before === undefined && after === undefined) return undefined;

  // Whatever was under way between the two balances; where one is missing, this claim stands in its place. Taken and
  // settled are numbers of one sequence: with `before` settled as 7, this claim taken as 10 and `after` settled as 14,
  // it is what was taken before 14 and not settled by 7.
  const from = before ? orderOf(before.settled_order) : taken;
  const until = after ? orderOf(after.settled_order) : taken;
  const others = await of()
    .where("state", "in", ["held", "applied"])
    .where("taken_order", "<", String(until))
    .where((where) => where.or([where("settled_order", "is", null), where("settled_order", ">", String(from))]))
    .where((where) =>
      // An unknown that is older than the balance before is part of it, or will never be.
      where.or([where("state", "=", "applied"), where("taken_order", ">", before?.taken_order ?? row.taken_order)]),
    )
    .orderBy("taken_order", "desc")
    .limit(MOST)
    .execute();

  return {
    ...(before ? { before: balanceOf(before) } : {}),
    ...(after ? { after: balanceOf(after) } : {}),
    between: others.reverse().flatMap((other) => {
      if (other.action === null || other.reference_id === before?.reference_id) return [];
      // A request that was under way when a balance was answered may be in it or not. An operator's decision comes long
      // after the request.
      const overBeforeAfter =
        other.reference_id === after?.reference_id ||
        after === undefined ||
        orderOf(other.settled_order) < orderOf(after.taken_order) ||
        (outcomeOf(other) === undefined && orderOf(other.taken_order) < orderOf(after.taken_order));
      const inside = orderOf(other.taken_order) > from && overBeforeAfter;
      const isSure = other.state === "applied" && inside;
      return [
        {
          referenceId: other.reference_id,
          action: other.action,
          quantity: Number(other.quantity),
          state: isSure ? ("applied" as const) : ("unknown" as const),
        },
      ];
    }),
  };
}

/**
 * The service's own id of the branch to which movements go that name none, as its newest answer to one of the same item
 * says; undefined where none does.
 */
async function homeBranch(db: Queries, key: MovementKey, row: StockRow): Promise<string | undefined> {
  const newest = await claimsOfItem(db, key, row)
    .select("branch_id")
    .where("branch", "is", null)
    .where("branch_id", "is not", null)
    .orderBy("settled_order", "desc")
    .limit(1)
    .executeTakeFirst();
  return newest?.branch_id ?? undefined;
}

/** The other movements of the same item in the same branch. */
function sameStock(db: Queries, key: MovementKey, row: StockRow, home: string | undefined) {
  // The service's own word on the branch if there is one, else the branch as it was sent. A sale names none, and the
  // return of its goods names the one from which they came.
  const branch = row.branch_id ?? row.branch ?? home ?? null;
  return claimsOfItem(db, key, row)
    .selectAll()
    .where("reference_id", "!=", row.reference_id)
    .where(sql<boolean>`coalesce(branch_id, branch, ${home ?? null}) is not distinct from ${branch}`);
}

function claimsOfItem(db: Queries, key: MovementKey, row: StockRow) {
  return db
    .selectFrom("movements")
    .where((eb) => eb.and(businessColumns(key)))
    .where("item_id", "=", row.item_id);
}

function orderOf(value: string | null): number {
  return value === null ? Number.POSITIVE_INFINITY : Number(value);
}

function balanceOf(row: StockRow): Balance {
  const outcome = outcomeOf(row);
  return {
    quantityOnHand: Number(row.quantity_on_hand),
    atMs: outcome?.kind === "applied" ? outcome.sentAtMs : row.taken_at.getTime(),
    referenceId: row.reference_id,
  };
}
