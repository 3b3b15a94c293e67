import { type RawBuilder, sql } from "kysely";

import { type BranchHold, NO_BUSINESS, type OperatorDecision, type OtherBranch } from "../../contract/index.ts";
import { toJson } from "../claims/claim.ts";
import type { Queries } from "../database.ts";
import { type Business, businessColumns } from "../events/chain.ts";
import { storableText } from "../storable-text.ts";
import type { RowOf } from "../tables.ts";
import type { MovementKey } from "./movement.ts";

/**
 * If an answer named another branch than the one that was asked for, no further movement of the connection to a
 * named branch is sent until an operator has looked. The name and the form under which the branch is sent belong to the
 * key: a changed dialect is not held.
 */

export type BranchPair = Omit<OtherBranch, "message">;

export interface ListedHold extends BranchHold {
  connection: string;
  heldAtMs: number;
}

/** Idempotent; what somebody has looked at already is not held again. */
export async function holdBranch(db: Queries, scope: MovementKey, other: BranchPair): Promise<void> {
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
    .selectAll()
    .where("connection", "=", connection)
    .where("sent_as", "=", storableText(sentAs))
    .where("looked_at", "is", null)
    .orderBy("held_at")
    .limit(1)
    .executeTakeFirst();
  return row && holdOf(row);
}

/** For a statement: whether there is one. */
export function isHeldBack(connection: string, sentAs: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from stock_branch_holds as h
    where (h.connection, h.sent_as) = (${connection}, ${storableText(sentAs)}) and h.looked_at is null)`;
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

/** An operator has looked at the pair: from now on it holds nothing. The first decision stays. */
export async function lookedAt(
  db: Queries,
  scope: MovementKey,
  other: BranchPair,
  decision: OperatorDecision,
): Promise<void> {
  await holdBranch(db, scope, other);
  await db
    .updateTable("stock_branch_holds")
    .set({ looked_at: toJson(decision) })
    .where("looked_at", "is", null)
    .where((eb) => eb.and(pairColumns(scope, other)))
    .execute();
}

export async function isLookedAt(db: Queries, scope: Business, other: BranchPair): Promise<boolean> {
  const row = await db
    .selectFrom("stock_branch_holds")
    .select("held_at")
    .where("looked_at", "is not", null)
    .where((eb) => eb.and(pairColumns(scope, other)))
    .executeTakeFirst();
  return row !== undefined;
}

type HoldRow = RowOf<"stock_branch_holds">;

function holdOf({ reference_id, business_id, sent_as, asked, answered }: HoldRow): BranchHold {
  const businessId = business_id === NO_BUSINESS ? undefined : business_id;
  return { referenceId: reference_id, businessId, sentAs: sent_as, asked, answered };
}

function pairColumns(business: Business, { sentAs, asked, answered }: BranchPair) {
  return {
    ...businessColumns(business),
    sent_as: storableText(sentAs),
    asked: storableText(asked),
    answered: storableText(answered),
  };
}
