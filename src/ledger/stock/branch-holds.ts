import type { Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";
import type { Decision, OtherBranch } from "./claims.ts";
import { toJson } from "./row.ts";

/**
 * Where an answer named another branch than the one that was asked for, no further movement of the connection to a named branch is sent
 * until a person has looked. The name and the form under which the branch is sent belong to the key: a changed dialect is not held.
 */

/** Of which the answer was. */
interface BranchScope {
  connection: string;
  businessId: string | undefined;
}

export interface OpenHold {
  /** The movement whose answer named the other branch. */
  referenceId: string;
  asked: string;
  answered: string;
}

/** Idempotent; what somebody has looked at already is not held again. */
export async function holdBranch(
  db: Queries,
  scope: BranchScope & { referenceId: string },
  other: OtherBranch,
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
export async function openHold(db: Queries, connection: string, sentAs: string): Promise<OpenHold | undefined> {
  const row = await db
    .selectFrom("stock_branch_holds")
    .select(["reference_id", "asked", "answered"])
    .where("connection", "=", connection)
    .where("sent_as", "=", storableText(sentAs))
    .where("looked_at", "is", null)
    .orderBy("held_at")
    .limit(1)
    .executeTakeFirst();
  return row && { referenceId: row.reference_id, asked: row.asked, answered: row.answered };
}

/** A person has looked at the pair: from now on it holds nothing. The first word stays. */
export async function lookedAt(
  db: Queries,
  scope: BranchScope & { referenceId: string },
  other: OtherBranch,
  word: Omit<Decision, "applied">,
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

export async function isLookedAt(db: Queries, scope: BranchScope, other: OtherBranch): Promise<boolean> {
  let query = db.selectFrom("stock_branch_holds").select("held_at").where("looked_at", "is not", null);
  for (const [column, value] of Object.entries(pairColumns(scope, other)))
    query = query.where(column as keyof ReturnType<typeof pairColumns>, "=", value);
  return (await query.executeTakeFirst()) !== undefined;
}

function pairColumns({ connection, businessId }: BranchScope, { sentAs, asked, answered }: OtherBranch) {
  return {
    connection,
    business_id: businessId ?? "-",
    sent_as: storableText(sentAs),
    asked: storableText(asked),
    answered: storableText(answered),
  };
}
