import { type RawBuilder, type Selectable, sql } from "kysely";

import {
  type AppliedMovement,
  type DecidedApplied,
  decimalText,
  type KnownMovement,
  type MovementOrigin,
  type MovementOutcome,
  type SupersededTry,
} from "../../contract/index.ts";
import { type HeldClaim, heldAnswer, type UnderWay, underWay, wordOf } from "../claim-answers.ts";
import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { appended, appendEvents } from "../events/append-events.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import type { NewEvent, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { assignments, insertRowFrom } from "../statements.ts";
import { storableJson, storableText } from "../storable-text.ts";
import type { MovementsTable } from "../tables/claims.ts";
import type { ClaimedMovement, Decision, MovementKey } from "./claims.ts";

export type StockRow = Selectable<MovementsTable>;

export function keyColumns(key: MovementKey): { connection: string; business_id: string; reference_id: string } {
  return { ...businessColumns(key), reference_id: storableText(key.referenceId) };
}

export function whereKey(key: MovementKey): RawBuilder<boolean> {
  const { connection, business_id, reference_id } = keyColumns(key);
  return sql`(connection, business_id, reference_id) = (${connection}, ${business_id}, ${reference_id})`;
}

/** Until the transaction ends no other one changes it. */
export function lockRow(db: Queries, key: MovementKey): Promise<StockRow | undefined> {
  return db.selectFrom("movements").selectAll().where(whereKey(key)).forUpdate().executeTakeFirst();
}

export function readRow(db: Queries, key: MovementKey): Promise<StockRow | undefined> {
  return db.selectFrom("movements").selectAll().where(whereKey(key)).executeTakeFirst();
}

/**
 * What a change says of the row, as its event keeps it. A row is all that its events say, one after the other; left out
 * are the columns by which tries are told apart and ordered.
 */
export interface MovementChange {
  generation?: number;
  state?: StockRow["state"];
  type?: string | null;
  number?: string | null;
  purpose?: string | null;
  undoes?: string | null;
  item_id?: string | null;
  action?: string | null;
  quantity?: string | null;
  unit_price?: string | null;
  branch?: string | null;
  taken_at?: string;
  outcome?: MovementOutcome | null;
  branch_id?: string | null;
  quantity_on_hand?: string | null;
  decision?: Decision | null;
  disputed?: boolean;
}

/** Columns of the row that no event tells of: who may be at it, and in which order. */
type Columns = Readonly<Record<string, unknown>>;

/** What happened to a movement, and what that changes. `detail`: what no column has. */
export interface MovementEvent {
  what: string;
  generation: number;
  change?: MovementChange | undefined;
  detail?: object | undefined;
}

const KIND = "movement-";
export const SUBJECT = "movement ";

export function subjectOf(referenceId: string): string {
  return `${SUBJECT}${storableText(referenceId)}`;
}

/** What happened, as the kind of its event says it. */
export const whatOf = (kind: string): string => kind.slice(KIND.length);
export const kindOf = (what: string): string => `${KIND}${what}`;

export function newEvent(
  key: MovementKey,
  writer: Writer,
  { what, generation, change, detail }: MovementEvent,
): NewEvent {
  const content = { generation, ...(change && { change }), ...(detail && { detail }) };
  return { kind: kindOf(what), subject: subjectOf(key.referenceId), content, writer };
}

/** As the row keeps it. */
export function rowColumns({ outcome, decision, ...columns }: MovementChange): Columns {
  return {
    ...columns,
    ...(outcome !== undefined && { outcome: outcome && toJson(outcome) }),
    ...(decision !== undefined && { decision: decision && toJson(decision) }),
  };
}

export function writerColumns({ workflowId, runId }: Writer): Columns {
  return { workflow_id: storableText(workflowId), run_id: storableText(runId) };
}

/**
 * The statement that makes the row, where there is none. A condition may follow.
 * @param columns those that no event tells of
 */
export function insertion(
  key: MovementKey,
  writer: Writer,
  change: MovementChange,
  columns: Columns = {},
): RawBuilder<unknown> {
  return insertRowFrom("movements", {
    ...keyColumns(key),
    ...rowColumns(change),
    ...columns,
    ...writerColumns(writer),
  });
}

export const UNLESS_THERE = sql`on conflict (connection, business_id, reference_id) do nothing returning generation`;

/** The same for the row that is there. A further condition may follow. */
export function update(
  key: MovementKey,
  writer: Writer,
  change: MovementChange,
  columns: Columns = {},
): RawBuilder<unknown> {
  const changes = assignments({ ...rowColumns(change), ...columns, ...writerColumns(writer) });
  return sql`update movements set ${sql.join(changes)} where ${whereKey(key)}`;
}

/**
 * One statement: writes the row, and its event where it was written.
 * @param write what it returns is one row, or none
 * @returns whether it was written
 */
export async function writeWithEvent(
  db: Queries,
  key: MovementKey,
  write: RawBuilder<unknown>,
  event: NewEvent,
): Promise<boolean> {
  const { rows } = await sql`
    with written as (${write}) select ${appended(key, [event])} from written`.execute(db);
  return rows.length > 0;
}

/** Changes the row that the transaction has locked. */
export async function changeRow(
  db: Queries,
  key: MovementKey,
  writer: Writer,
  event: MovementEvent,
  columns: Columns = {},
): Promise<void> {
  await update(key, writer, event.change ?? {}, columns).execute(db);
  await appendEvents(db, key, [newEvent(key, writer, event)]);
}

/**
 * Makes the row, with its event. @returns the one that is there already: until the transaction ends no other one changes
 * it
 */
export async function insertOrLock(
  db: Queries,
  key: MovementKey,
  writer: Writer,
  event: MovementEvent & { change: MovementChange },
  columns: Columns = {},
): Promise<StockRow | undefined> {
  const inserted = sql`${insertion(key, writer, event.change, columns)} ${UNLESS_THERE}`;
  if (await writeWithEvent(db, key, inserted, newEvent(key, writer, event))) return undefined;
  const found = await lockRow(db, key);
  if (found === undefined) throw new Error("a movement vanished: rows are never deleted");
  return found;
}

export const nextOrder = sql<string>`nextval('movement_order')`;

/** Nothing is known of what came of it. */
export const NO_OUTCOME = { outcome: null, branch_id: null, quantity_on_hand: null } as const;

export function movementColumns(movement: ClaimedMovement) {
  return {
    item_id: storableText(movement.itemId),
    action: movement.action,
    quantity: decimalText(movement.quantity),
    unit_price: decimalText(movement.unitPrice),
    branch: movement.branch === undefined ? null : storableText(movement.branch),
  };
}

export function originColumns({ type, number, purpose, undoes }: MovementOrigin) {
  const of = { type, number: storableText(number), purpose };
  return { ...of, undoes: undoes === undefined ? null : storableText(undoes) };
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
  return canonicalJson(movementColumns(one)) === canonicalJson(movementColumns(other));
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

/** For a row in state `not-applied` or `buried`. A word that stands beside an answer was about an earlier try. */
export function supersededAnswer({ generation, decision, outcome }: StockRow): SupersededTry {
  const isDecided = decision !== null && outcome === null;
  return { kind: "superseded", generation, ...(isDecided && { word: wordOf(decision as Decision) }) };
}

export function knownOf(row: StockRow): KnownMovement {
  if (row.state === "applied") return appliedAnswer(row);
  return row.state === "held" ? unknownAnswer(row) : supersededAnswer(row);
}

/** For a row in state `held`. */
export function unknownAnswer(row: StockRow): HeldClaim {
  return heldAnswer(row, holderText(writerOf(row)));
}

/** The run that wrote the row last. Whoever only doubts what it says leaves it there. */
export function writerOf({ workflow_id: workflowId, run_id: runId }: StockRow): Writer {
  return { workflowId, runId };
}

/** The same for whoever would act on it. */
export async function openAnswer(db: Queries, row: StockRow): Promise<HeldClaim | UnderWay> {
  return (await underWay(db, row)) ?? unknownAnswer(row);
}

/** For people. */
export function holderText({ workflowId, runId }: Writer): string {
  return `${workflowId} (run ${runId})`;
}

export function toJson(value: object): string {
  return canonicalJson(storableJson(value));
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
