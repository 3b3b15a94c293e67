import { type Selectable, sql, type UpdateObject } from "kysely";

import type { BatchOutcome, ClaimedTry, KnownBatch, OperatorDecision } from "../../contract/index.ts";
import { heldAnswer, underWay, type UnderWay, untilItIsOver, wordOf } from "../claim-answers.ts";
import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { appendEvents } from "../events/append-events.ts";
import { accountingChain, type Writer } from "../events/chain.ts";
import { storableText } from "../storable-text.ts";
import { writerColumns } from "../synced/rows.ts";
import type { Tables } from "../tables.ts";
import type { SyncBatchesTable } from "../tables/accounting.ts";
import { batchEvent, type BatchEvent } from "./events.ts";
import type { BatchDecision, BatchKey, KeptBatch, SyncBatches, TakeBatchRequest } from "./sync-batches.ts";

/**
 * The states of a claim, and who moves it on:
 *
 * - none → held (take), buried (readOrBury)
 * - held → processed, not-processed (settle, decide)
 * - buried, not-processed → held under a higher generation (take); buried under a higher one (readOrBury)
 * - anything → processed, when the service says so late (settle); processed is the end
 */
type Row = Selectable<SyncBatchesTable>;

export async function take(db: Queries, request: TakeBatchRequest): Promise<{ kind: "taken" } | KnownBatch | UnderWay> {
  const { generation, execution, writer } = request;
  const token = storableText(request.token);
  const row = await lockedRow(db, request);
  const isSameTry = row?.state === "held" && isOf(request, row) && row.run_id === writer.runId;
  // The very call that is kept: its acknowledgement was lost, so nothing was sent on the strength of it. Any other
  // execution of the same try may have sent it, but those of which its run knows that they ended without sending. A
  // reset hands the activity under way on to the new run, with its token: the run tells the two apart.
  if (isSameTry && row.execution === execution) return { kind: "taken" };
  const isFree = isSameTry && row.execution !== null && request.unsent?.includes(row.execution) === true;
  if (row && !isFree) {
    if (row.state === "held") return (await underWay(db, row)) ?? knownOf(row);
    if (row.state === "processed" || row.generation >= generation) return knownOf(row);
  }
  const claim = {
    generation,
    token,
    execution,
    state: "held" as const,
    message: null,
    settled_at: null,
    decision: null,
  };
  const times = { taken_at: sql<Date>`clock_timestamp()`, under_way_until: untilItIsOver(request.underWayForMs) };
  await write(db, request, { ...claim, ...times }, writer, {
    what: "batch-taken",
    detail: { generation, token, execution },
  });
  return { kind: "taken" };
}

function isOf({ generation, token }: ClaimedTry, row: Row): boolean {
  return row.generation === generation && row.token === storableText(token);
}

export async function ended(db: Queries, request: Parameters<SyncBatches["ended"]>[0]): Promise<void> {
  const { connection, generation, token, execution } = request;
  await db
    .updateTable("sync_batches")
    .set({ under_way_until: null })
    .where((eb) => eb.and({ connection, sync_batch_id: storableText(request.syncBatchId) }))
    .where((eb) => eb.and({ generation, token: storableText(token), execution }))
    .execute();
}

export async function settle(
  db: Queries,
  request: BatchKey & ClaimedTry & { outcome: BatchOutcome; writer: Writer },
): Promise<void> {
  const { generation, outcome, writer } = request;
  const row = await lockedRow(db, request);
  if (row === undefined) throw new LedgerError(`The batch ${request.syncBatchId} was never taken.`);
  if (row.state === "processed" && row.decision === null) return;
  const isOurs = row.state === "held" && isOf(request, row);
  if (outcome.kind === "not-processed" && !isOurs) return await endedWith(db, request, row);
  const change = {
    state: outcome.kind,
    message: storableText(outcome.message),
    settled_at: sql<Date>`clock_timestamp()`,
    under_way_until: null,
  };
  await write(db, request, change, writer, {
    what: `batch-${outcome.kind}` as const,
    detail: { generation, message: outcome.message },
  });
}

/** Whoever has the outcome of a try sends it no more, whatever was decided on it meanwhile. */
async function endedWith(db: Queries, request: BatchKey & ClaimedTry, row: Row): Promise<void> {
  const { execution } = row;
  if (isOf(request, row) && execution !== null && row.under_way_until !== null)
    await ended(db, { ...request, execution });
}

export async function readOrBury(
  db: Queries,
  request: BatchKey & { generation: number; writer: Writer },
): Promise<KnownBatch | UnderWay> {
  const { generation, writer } = request;
  const row = await lockedRow(db, request);
  if (row?.state === "held") return (await underWay(db, row)) ?? knownOf(row);
  if (row && (row.state === "processed" || row.generation >= generation)) return knownOf(row);
  const nothing = { token: null, execution: null, message: null, settled_at: null, decision: null };
  const buried = { generation, state: "buried" as const, ...nothing, taken_at: sql<Date>`clock_timestamp()` };
  await write(db, request, buried, writer, { what: "batch-buried", detail: { generation } });
  return { kind: "superseded", generation };
}

export async function decide(
  db: Queries,
  request: BatchKey & { generation: number; processed: boolean; word: OperatorDecision; writer: Writer },
): Promise<KnownBatch> {
  const { generation, processed, word, writer } = request;
  const row = await lockedRow(db, request);
  // A newer try exists only where the one that the word is about was known not to have been processed. It says nothing
  // of the newer one, which may be on its way: let go by it, the batch would be sent once more.
  const isOpen = row?.state === "held" && (processed || row.generation <= generation);
  if (row && !isOpen && (row.state === "held" || row.state === "processed" || row.generation >= generation))
    return knownOf(row);
  const decision: BatchDecision = { processed, ...word };
  const state = processed ? ("processed" as const) : ("not-processed" as const);
  const at = sql<Date>`clock_timestamp()`;
  const taken = row ? {} : { token: null, execution: null, taken_at: at };
  const newest = Math.max(generation, row?.generation ?? 0);
  const claim = {
    generation: newest,
    state,
    message: storableText(word.note),
    settled_at: at,
    decision: storableText(JSON.stringify(decision)),
    ...taken,
  };
  await write(db, request, claim, writer, { what: "batch-decided", detail: { generation: newest, ...decision } });
  return processed ? { kind: "said-processed", word } : { kind: "superseded", generation };
}

export async function read(db: Queries, key: BatchKey): Promise<KeptBatch | undefined> {
  const row = await rowOf(db, key).executeTakeFirst();
  if (row === undefined) return undefined;
  const { generation, state, message, workflow_id: workflowId, run_id: runId } = row;
  return { ...key, generation, state, message, decision: decisionOf(row), writer: { workflowId, runId } };
}

function knownOf(row: Row): KnownBatch {
  if (row.state === "held") return heldAnswer(row, `${row.workflow_id} (run ${row.run_id})`);
  if (row.state !== "processed") return { kind: "superseded", generation: row.generation };
  const decision = decisionOf(row);
  return decision
    ? { kind: "said-processed", word: wordOf(decision) }
    : { kind: "processed", message: row.message ?? "" };
}

function decisionOf(row: Row): BatchDecision | null {
  return row.decision as BatchDecision | null;
}

function rowOf(db: Queries, { connection, syncBatchId }: BatchKey) {
  return db
    .selectFrom("sync_batches")
    .selectAll()
    .where("connection", "=", connection)
    .where("sync_batch_id", "=", storableText(syncBatchId));
}

/** Two transactions about one batch follow each other, also about one that has no row yet. */
async function lockedRow(db: Queries, key: BatchKey): Promise<Row | undefined> {
  const name = JSON.stringify(["sync-batch", key.connection, storableText(key.syncBatchId)]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
  return rowOf(db, key).executeTakeFirst();
}

/** A row is made by a change that has all of it. */
async function write(
  db: Queries,
  { connection, syncBatchId }: BatchKey,
  change: UpdateObject<Tables, "sync_batches">,
  writer: Writer,
  event: BatchEvent,
): Promise<void> {
  const id = storableText(syncBatchId);
  const [number = 0] = await appendEvents(db, accountingChain(connection), [batchEvent(id, event, writer)]);
  const whole = { ...change, event_number: number, ...writerColumns(writer) };
  const updated = await db
    .updateTable("sync_batches")
    .set(whole)
    .where("connection", "=", connection)
    .where("sync_batch_id", "=", id)
    .executeTakeFirst();
  if (updated.numUpdatedRows > 0n) return;
  await db
    .insertInto("sync_batches")
    .values({ connection, sync_batch_id: id, ...whole } as never)
    .execute();
}
