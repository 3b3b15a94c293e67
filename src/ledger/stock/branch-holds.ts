import { type RawBuilder, sql } from "kysely";

import type { BranchHold, OperatorDecision } from "../../contract/index.ts";
import { toJson } from "../claims/claim.ts";
import type { Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";
import type { BranchPair, ListedHold } from "./claims.ts";

/**
 * Where an answer named another branch than the one that was asked for, no further movement of the connection to a
 * named branch is sent until an operator has looked. The name and the form under which the branch is sent belong to the
 * key: a changed dialect is not held.
 */

/** Of which the answer was. */
interface BranchScope {
  connection: string;
  businessId?: string | undefined;
}

/** Idempotent; what somebody has looked at already is not held again. */
export async function holdBranch(
  db: Queries,
  scope: BranchScope & { referenceId: string },
  other: BranchPair,
): Promise<void> {
  await db
    .insertInto("stock_branch_holds")
    .values({ ...pairColumns(scope, other), reference_id: scope.referenceId })
    .onConflict((conflict) =>
      conflict.columns(["connection", "business_id", "sent_as", "asked", "answered"]).doNothing(),
    )
    .execute();
}

/** The oldest one that nobody has looked at, of any business of the connection: they share its dialect. */
export async function openHold(db: Queries, connection: string, sentAs: string): Promise<BranchHold | undefined> {
  const row = await db
    .selectFrom("stock_branch_holds")
    .select(["reference_id", "business_id", "sent_as", "asked", "answered"])
    .where("connection", "=", connection)
    .where("sent_as", "=", storableText(sentAs))
    .where("looked_at", "is", null)
    .orderBy("held_at")
    .limit(1)
    .executeTakeFirst();
  return row && holdOf(row);
}

/** Whether there is one, for a statement that writes where there is none. */
export function isHeld(connection: string, sentAs: string): RawBuilder<boolean> {
  return sql`exists (
    select from stock_branch_holds
    where connection = ${connection} and sent_as = ${storableText(sentAs)} and looked_at is null)`;
}

export async function openHolds(db: Queries): Promise<ListedHold[]> {
  const rows = await db
    .selectFrom("stock_branch_holds")
    .selectAll()
    .where("looked_at", "is", null)
    .orderBy("held_at")
    .execute();
  return rows.map((row) => ({ ...holdOf(row), connection: row.connection, heldAtMs: row.held_at.getTime() }));
}

/** An operator has looked at the pair: from now on it holds nothing. The first word stays. */
export async function lookedAt(
  db: Queries,
  scope: BranchScope & { referenceId: string },
  other: BranchPair,
  word: OperatorDecision,
): Promise<void> {
  await holdBranch(db, scope, other);
  let update = db
    .updateTable("stock_branch_holds")
    .set({ looked_at: toJson(word) })
    .where("looked_at", "is", null);
  for (const [column, value] of Object.entries(pairColumns(scope, other)))
    update = update.where(column as keyof ReturnType<typeof pairColumns>, "=", value);
  await update.execute();
}

export async function isLookedAt(db: Queries, scope: BranchScope, other: BranchPair): Promise<boolean> {
  let query = db.selectFrom("stock_branch_holds").select("held_at").where("looked_at", "is not", null);
  for (const [column, value] of Object.entries(pairColumns(scope, other)))
    query = query.where(column as keyof ReturnType<typeof pairColumns>, "=", value);
  return (await query.executeTakeFirst()) !== undefined;
}

interface HoldColumns {
  reference_id: string;
  business_id: string;
  sent_as: string;
  asked: string;
  answered: string;
}

function holdOf({ reference_id, business_id, sent_as, asked, answered }: HoldColumns): BranchHold {
  const businessId = business_id === "-" ? undefined : business_id;
  return { referenceId: reference_id, businessId, sentAs: sent_as, asked, answered };
}

function pairColumns({ connection, businessId }: BranchScope, { sentAs, asked, answered }: BranchPair) {
  return {
    connection,
    business_id: businessId ?? "-",
    sent_as: storableText(sentAs),
    asked: storableText(asked),
    answered: storableText(answered),
  };
}
