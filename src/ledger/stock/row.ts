import { type Insertable, type RawBuilder, type Selectable, sql, type UpdateObject } from "kysely";

import type {
  AppliedMovement,
  KnownMovement,
  MovementOutcome,
  DecidedApplied,
  SupersededTry,
} from "../../contract/index.ts";
import { type HeldClaim, heldAnswer, type UnderWay, underWay, wordOf } from "../claim-answers.ts";
import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { insertRowFrom } from "../statements.ts";
import { cleanText } from "../storable-text.ts";
import type { Tables } from "../tables.ts";
import type { StockClaimsTable } from "../tables/claims.ts";
import type { ClaimedMovement, Decision, MovementKey } from "./claims.ts";

export type StockRow = Selectable<StockClaimsTable>;

export function keyColumns(key: MovementKey): { connection: string; business_id: string; reference_id: string } {
  return { connection: key.connection, business_id: key.businessId ?? "-", reference_id: key.referenceId };
}

type KeyColumn = keyof ReturnType<typeof keyColumns>;

/**
 * The movement's first row. @returns the one that is there already: until the transaction ends no other one changes it
 */
export async function insertOrLock(
  db: Queries,
  key: MovementKey,
  first: Omit<Insertable<StockClaimsTable>, KeyColumn>,
): Promise<StockRow | undefined> {
  const inserted = await db
    .insertInto("stock_claims")
    .values({ ...keyColumns(key), ...first })
    .onConflict((conflict) => conflict.columns(["connection", "business_id", "reference_id"]).doNothing())
    .returning("generation")
    .executeTakeFirst();
  if (inserted !== undefined) return undefined;
  const found = await lockRow(db, key);
  if (found === undefined) throw new Error("a claim vanished: rows are never deleted");
  return found;
}

/** Until the transaction ends no other one changes it. */
export function lockRow(db: Queries, key: MovementKey): Promise<StockRow | undefined> {
  return db.selectFrom("stock_claims").selectAll().where(whereKey(key)).forUpdate().executeTakeFirst();
}

export function readRow(db: Queries, key: MovementKey): Promise<StockRow | undefined> {
  return db.selectFrom("stock_claims").selectAll().where(whereKey(key)).executeTakeFirst();
}

export function whereKey(key: MovementKey) {
  const { connection, business_id, reference_id } = keyColumns(key);
  return sql<boolean>`(connection, business_id, reference_id) = (${connection}, ${business_id}, ${reference_id})`;
}

export const nextOrder = sql<string>`nextval('stock_claim_order')`;

/** Nothing is known of what came of it. */
export const NO_OUTCOME = {
  settled_order: null,
  outcome: null,
  branch_id: null,
  quantity_on_hand: null,
  decision: null,
} as const;

export function movementColumns(movement: ClaimedMovement) {
  return {
    item_id: movement.itemId,
    action: movement.action,
    quantity: movement.quantity,
    unit_price: movement.unitPrice,
    branch: movement.branch ?? null,
  };
}

export function movementOf(row: StockRow): ClaimedMovement | undefined {
  if (row.item_id === null || row.action === null) return undefined;
  return {
    itemId: row.item_id,
    action: row.action,
    quantity: Number(row.quantity),
    unitPrice: Number(row.unit_price),
    ...(row.branch === null ? {} : { branch: row.branch }),
  };
}

export function isSameMovement(one: ClaimedMovement, other: ClaimedMovement): boolean {
  return (
    one.itemId === other.itemId &&
    one.action === other.action &&
    one.quantity === other.quantity &&
    one.unitPrice === other.unitPrice &&
    one.branch === other.branch
  );
}

export function outcomeOf(row: StockRow): MovementOutcome | undefined {
  return (row.outcome as MovementOutcome | null) ?? undefined;
}

/** For a row in state `applied`. Where an operator alone says so there is no answer of the service. */
export function appliedAnswer(row: StockRow): AppliedMovement | DecidedApplied {
  const outcome = outcomeOf(row);
  if (outcome?.kind === "applied") return outcome;
  if (row.decision === null) throw new LedgerError(`Nobody has said why ${row.reference_id} counts as applied.`);
  return { kind: "said-applied", word: wordOf(row.decision as Decision) };
}

/** For a row in state `not-applied` or `buried`. */
export function supersededAnswer({ generation, decision }: StockRow): SupersededTry {
  return { kind: "superseded", generation, ...(decision !== null && { word: wordOf(decision as Decision) }) };
}

export function knownOf(row: StockRow): KnownMovement {
  if (row.state === "applied") return appliedAnswer(row);
  return row.state === "held" ? unknownAnswer(row) : supersededAnswer(row);
}

/** For a row in state `held`. */
export function unknownAnswer(row: StockRow): HeldClaim {
  return heldAnswer(row, row.holder ?? "");
}

/** The same for whoever would act on it. */
export async function openAnswer(db: Queries, row: StockRow): Promise<HeldClaim | UnderWay> {
  return (await underWay(db, row)) ?? unknownAnswer(row);
}

export async function updateRow(
  db: Queries,
  key: MovementKey,
  change: UpdateObject<Tables, "stock_claims">,
): Promise<void> {
  await db.updateTable("stock_claims").set(change).where(whereKey(key)).execute();
}

export interface ClaimedEvent {
  generation: number;
  token?: string | null;
  what: string;
  detail?: object;
}

export async function recordEvent(db: Queries, key: MovementKey, event: ClaimedEvent): Promise<void> {
  await db.insertInto("stock_claim_events").values(eventColumns(key, event)).execute();
}

/**
 * One statement: writes a claim, and its event where it was written. @param claim what it returns is one row, or none
 * @returns whether it was written
 */
export async function writeWithEvent(
  db: Queries,
  key: MovementKey,
  claim: RawBuilder<unknown>,
  event: ClaimedEvent,
): Promise<boolean> {
  const { rows } = await sql`
    with claim as (${claim})
    ${insertRowFrom("stock_claim_events", eventColumns(key, event))} from claim returning what`.execute(db);
  return rows.length > 0;
}

function eventColumns(key: MovementKey, { generation, token = null, what, detail }: ClaimedEvent) {
  return { ...keyColumns(key), generation, token, what, detail: detail === undefined ? null : toJson(detail) };
}

export function toJson(value: object): string {
  return cleanText(JSON.stringify(value));
}

/** @throws LedgerError for a generation that is none: the first is 1. */
export function checkGeneration(generation: number): void {
  if (!Number.isSafeInteger(generation) || generation < 1 || generation > 2_147_483_647)
    throw new LedgerError(`A generation is a whole number from 1, not ${generation}.`);
}

/** @throws LedgerError for a movement that could not be compared with what was claimed. */
export function checkMovement(movement: ClaimedMovement): void {
  for (const name of ["quantity", "unitPrice"] as const) {
    if (!Number.isFinite(movement[name]))
      throw new LedgerError(`A movement's ${name} is a finite number, not ${movement[name]}.`);
  }
}
