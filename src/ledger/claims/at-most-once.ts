import { type RawBuilder, sql } from "kysely";
import { createHash } from "node:crypto";

import {
  type ClaimedTry,
  nairobiAndUtcTime,
  type OperatorDecision,
  type SupersededTry,
  type TakingExecution,
  type UnknownOutcome,
} from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { appendEvents, type Business, canonicalJson, type Writer, writerColumns } from "../events/chain.ts";
import type { ProvenRows } from "../events/verify-rows.ts";
import { mayBeLost } from "../place.ts";
import { storableJson, storableText } from "../storable-text.ts";
import type { RowOf } from "../tables.ts";
import {
  afterEvent,
  changeClaim,
  checkTry,
  type Claim,
  type ClaimEvent,
  type Columns,
  columnsOf,
  ended as endClaim,
  eventOf,
  holderText,
  insertion,
  type UnderWay,
  underWay,
  untilItIsOver,
  update,
  whereRow,
  writeWithEvent,
} from "./claim.ts";

/**
 * The claim of a call that is sent at most once: a stock movement, a sync batch (docs/architecture.md, "At most once").
 * The call is sent by its holder only, between `take` and `settle`. The states of a claim, and who moves it on, where
 * `done` is the table's word for a call that was carried out:
 *
 * - none → held (take), closed (readOrClose), done or not-done (decide). Where a restore may have lost the claim, `take`
 *   makes it as one that is held, whose outcome is unknown
 * - held → held by another execution of the same try (take, "taken-again"); done, not-done (settle, decide)
 * - held by an execution that is known to have sent nothing → closed (readOrClose)
 * - not-done, closed → held under a higher generation (take); closed under one (readOrClose; of movements that are put
 *   off, many at once: `stock/stock-claims.ts`); done (a late settle, decide); not-done (decide)
 * - done is the end
 */
export interface AtMostOnceTable<Answer extends { kind: string }> {
  table: "movements" | "sync_batches";
  /** Begins the kind of each event; what happened follows. */
  kind: string;
  /** Begins its subject; a space and the id follow. */
  noun: string;
  /** The last column of the primary key. */
  idColumn: string;
  /** The columns that say what is sent. */
  columnsOfCall: readonly string[];
  /** The state of a call that was carried out, and the kind of the service's answer. */
  done: string;
  notDone: string;
  /** What is known if an operator alone has decided that it was carried out. */
  decided: (decision: DecisionOf<Answer>) => Answer;
  /** Carried out is carried out, whichever try it was: a late answer says so of a newer try that is out, too. */
  lateDoneEnds?: true;
  /** Two answers of the service with different ids are about two calls. */
  answerId?: (outcome: object) => unknown;
  /** Columns by which calls are ordered; no event tells of them. */
  whenTaken?: Columns;
  whenSettled?: Columns;
}

export interface AtMostOnceClaim<Answer extends { kind: string }>
  extends Omit<AtMostOnceTable<Answer>, "table">, Claim {}

/** @param owner the other columns of the primary key */
export function claimIn<Answer extends { kind: string }>(
  table: AtMostOnceTable<Answer>,
  { owner, chain, id }: { owner: Columns; chain: Business; id: string },
): AtMostOnceClaim<Answer> {
  const text = storableText(id);
  return { ...table, key: { ...owner, [table.idColumn]: text }, chain, subject: `${table.noun} ${text}` };
}

/** As the database gives it. */
export type ClaimRow = Omit<
  RowOf<"sync_batches">,
  "connection" | "sync_batch_id" | "state" | "outcome" | "decision"
> & {
  state: string;
  outcome: { kind: string } | null;
  decision: OperatorDecision | null;
};

/** A claim that was taken, and that has no outcome: the call may have been carried out, or be on its way. */
interface HeldClaim extends UnknownOutcome {
  generation: number;
}

/** As the answer has it that says so. */
type DecisionOf<Answer> = Extract<Answer, { decision: OperatorDecision }>["decision"];

/** What is known of a call that was claimed before. */
export type Known<Answer> = Answer | SupersededTry<DecisionOf<Answer>> | HeldClaim;

/** Send now. */
export interface Taken {
  kind: "taken";
}

export interface TakeClaim extends ClaimedTry, TakingExecution {
  writer: Writer;
  nowMs: number;
}

/** What is to be sent, and what stands in its way beside the claim itself. */
interface Terms<Other> {
  /** The columns that say what is sent. */
  call: Columns;
  /** If the row stands for another call. */
  differs?: (row: ClaimRow) => Other | undefined;
  /** Whether, and why, nothing new may be sent now. */
  heldBack?: { holds: RawBuilder<boolean>; why: (db: Queries) => Promise<Other | undefined> };
  /** The subject of the document that the call belongs to, if it belongs to one. */
  document?: string;
}

/** In place of who took a claim that a restore may have lost: nobody knows, nor whether anything left. */
const LOST = "lost";
const BY_NOBODY = { token: LOST, execution: LOST };

/**
 * A call that nobody has claimed, and that nothing holds back, is taken by one statement. Where its claim may have been
 * lost it is written as one that was taken, and its outcome is unknown.
 */
export async function take<Answer extends { kind: string }, Other = never>(
  database: Database,
  claim: AtMostOnceClaim<Answer>,
  request: TakeClaim,
  terms: Terms<Other>,
): Promise<Taken | Known<Answer> | UnderWay | Other> {
  checkTry(request.generation);
  const { generation, execution, writer, nowMs } = request;
  const token = storableText(request.token);
  const event = {
    what: "taken",
    generation,
    change: { generation, state: "held", ...terms.call, taken_at: new Date(nowMs).toISOString() },
  };
  const by = { token, execution, under_way_until: untilItIsOver(request.underWayForMs) };
  const lost = mayBeLostOf(claim, writer, request.scheduledAtMs, terms.document);
  const stopped = sql<boolean>`(${terms.heldBack?.holds ?? sql`false`} or ${lost})`;
  type Answered = Taken | Known<Answer> | UnderWay | Other;
  return await database.inOneStatement<Answered>(
    async (db) => ((await isMade(db, claim, writer, event, by, stopped)) ? TAKEN : undefined),
    async (db) => {
      const heldBack = await terms.heldBack?.why(db);
      const isLost = await holds(db, lost);
      const taken_at = new Date(isLost ? request.scheduledAtMs : nowMs).toISOString();
      const taking = { ...event, change: { ...event.change, taken_at }, ...(isLost && { detail: { by: LOST } }) };
      const holder = isLost ? BY_NOBODY : by;
      const isNew = (isLost || heldBack === undefined) && (await isMade(db, claim, writer, taking, holder));
      if (isNew && !isLost) return TAKEN;
      const row = await lockRow(db, claim);
      // What is claimed already may have left: its claim tells what became of it.
      const answer = (row && (await standing(db, claim, request, row, { ...terms, isLost }))) ?? heldBack;
      if (answer !== undefined) return answer;
      const change = { ...taking.change, outcome: null };
      await changeRow(db, claim, writer, { ...taking, change }, { ...holder, ...claim.whenTaken });
      return isLost ? heldAnswer(there(await lockRow(db, claim))) : TAKEN;
    },
  );
}

/** Whether a restore may have lost the claim of a call that was asked for since then. */
function mayBeLostOf(claim: Claim, writer: Writer, sinceMs: number, document?: string): RawBuilder<boolean> {
  return mayBeLost({ ...claim.chain, writer, sinceMs, subject: claim.subject, document });
}

const TAKEN: Taken = { kind: "taken" };

/**
 * What is known of the call; undefined: it was not carried out, and may be taken. A reset hands the activity under way
 * on to the new run, with its token: the writer tells the two apart.
 */
async function standing<Answer extends { kind: string }, Other>(
  db: Queries,
  claim: AtMostOnceClaim<Answer>,
  request: TakeClaim,
  row: ClaimRow,
  { differs, isLost }: Pick<Terms<Other>, "differs"> & { isLost: boolean },
): Promise<Taken | Known<Answer> | UnderWay | Other | undefined> {
  const { generation, execution, writer } = request;
  if (isNotDone(claim, row)) return generation > row.generation ? undefined : supersededAnswer<Answer>(row);
  const different = differs?.(row);
  if (different !== undefined) return different;
  if (row.state === claim.done) return knownOf(claim, row);
  const { workflow_id, run_id } = writerColumns(writer);
  const isOfRun = row.workflow_id === workflow_id && row.run_id === run_id;
  if (!isOfTry(row, request) || !isOfRun || row.execution === null) return await openAnswer(db, row);
  // The very call that is kept: its acknowledgement was lost, so nothing was sent on the strength of it.
  if (row.execution === execution) return TAKEN;
  // Another execution of the same activity may have sent it (an operator who unpauses or resets an activity, or raises
  // its attempts, has it executed once more); a lost one too, of which the claim says nothing.
  if (isLost || !isHeldForNobody(row, request)) return await openAnswer(db, row);
  const columns = { execution, under_way_until: untilItIsOver(request.underWayForMs) };
  await changeRow(db, claim, writer, { what: "taken-again", generation }, columns);
  return TAKEN;
}

export type EndedTry = ClaimedTry & Pick<TakingExecution, "execution">;

/** The execution has ended without an outcome for the claim, and sends no more. */
export function ended(database: Database, claim: Claim, { generation, token, execution }: EndedTry): Promise<void> {
  return database.query((db) => endClaim(db, claim, { generation, token: storableText(token), execution }));
}

export type SettledTry<Outcome> = ClaimedTry & { outcome: Outcome; writer: Writer };
type SettleRequest = SettledTry<{ kind: string }>;

/**
 * Records what came of a try; idempotent. The outcome of the try that holds the call is written by one statement.
 * @param alongside written in the same transaction
 * @returns `contradicted`: the same call had another outcome (an operator's decision, a closed claim, another answer);
 *   it is marked as disputed and both are kept, and what the service carried out counts. `not-held`: the ledger knows
 *   nothing of the call
 */
export async function settle(
  database: Database,
  claim: AtMostOnceClaim<{ kind: string }>,
  request: SettleRequest,
  alongside?: (db: Queries) => Promise<void>,
): Promise<"settled" | "contradicted" | "not-held"> {
  checkTry(request.generation);
  const { generation, outcome, writer } = request;
  const token = storableText(request.token);
  const event = { what: `settled-${outcome.kind}`, generation, change: { state: outcome.kind, outcome } };
  /** A try with an outcome is sent no more. */
  const columns = { under_way_until: null, ...claim.whenSettled };
  return await database.inOneStatement<"settled" | "contradicted" | "not-held">(
    async (db) => {
      if (alongside) return undefined;
      const written = update(claim, event.change, { ...columns, ...writerColumns(writer) });
      const ifHeld = sql`
        ${written} and generation = ${generation} and token = ${token} and state = 'held' returning generation`;
      return (await writeWithEvent(db, claim, ifHeld, eventOf(claim, writer, event))) ? "settled" : undefined;
    },
    async (db) => {
      await alongside?.(db);
      const row = await lockRow(db, claim);
      const isDone = outcome.kind === claim.done;
      if (!row) {
        // What the service carried out must be found again, whichever run reports it.
        if (isDone) await tellOnce(db, claim, request, { what: "settled-without-claim" });
        return "not-held";
      }
      const known = row.outcome?.kind === claim.done ? row.outcome : undefined;
      const isCurrent = isOfTry(row, request);
      // An operator had decided so, perhaps; now the service's own words are there too.
      if (isCurrent && (row.state === "held" || (isDone && row.state === claim.done && !known))) {
        await changeRow(db, claim, writer, event, columns);
        return "settled";
      }
      const over = isCurrent ? { under_way_until: null } : {};
      const isSameAnswer = known && claim.answerId?.(known) === claim.answerId?.(outcome);
      const isKnownDone = isCurrent && row.state === claim.done && isSameAnswer;
      // Another try than the row's was given up as not carried out, or is unknown to the ledger.
      const isKnownNotDone = !isCurrent || row.state === claim.notDone;
      if (isDone ? isKnownDone : isKnownNotDone) {
        if (isCurrent && row.under_way_until !== null) await update(claim, {}, over).execute(db);
        return "settled";
      }
      // The service carried it out, whatever the row says: a further try would do so twice.
      const counts = isDone && (isNotDone(claim, row) || (claim.lateDoneEnds === true && row.state === "held"));
      const change = { ...(counts && event.change), disputed: true };
      await update(claim, change, counts ? columns : over).execute(db);
      const isKept = known !== undefined && canonicalJson(known) === canonicalJson(storableJson(outcome));
      const isCounted = counts || isKept;
      await tellOnce(db, claim, request, { what: "contradicted", change }, isCounted);
      return "contradicted";
    },
  );
}

/**
 * A repeated report is no second event, unless what it says counts by now.
 * @param isCounted whether the row has the outcome, by this report or an earlier one
 */
async function tellOnce(
  db: Queries,
  claim: Claim,
  { generation, token, outcome, writer }: SettleRequest,
  what: Pick<ClaimEvent, "what" | "change">,
  isCounted = false,
): Promise<void> {
  const event = eventOf(claim, writer, { ...what, generation, detail: outcome });
  // A digest: no event has the token.
  const one = canonicalJson([event.subject, generation, storableText(token), outcome, isCounted]);
  const key = `${event.kind} ${createHash("sha256").update(one).digest("hex")}`;
  await appendEvents(db, claim.chain, [{ ...event, key }]);
}

export interface LastTry {
  generation: number;
  writer: Writer;
  nowMs: number;
  /** When the try was first asked for (Unix milliseconds); default: nobody knows. */
  sinceMs?: number | undefined;
  /** The subject of the document that the call belongs to, if it belongs to one. */
  document?: string | undefined;
  /** The try that was put off: held by one of its executions that sent nothing, its claim is closed. */
  putOff?: ClaimedTry | undefined;
}

async function holds(db: Queries, what: RawBuilder<boolean>): Promise<boolean> {
  const { rows } = await sql<{ holds: boolean }>`select ${what} as holds`.execute(db);
  return rows[0]?.holds === true;
}

/**
 * Asked after an activity ended without an answer. If nothing of this generation was taken its claim is closed
 * from now on, so that a late attempt's `take` gets `superseded`. `in-progress`: ask again, it is not over yet. A newer
 * generation than asked for: the answer is about the newest. Nothing is closed where a restore may have lost the claim.
 */
export async function readOrClose<Answer extends { kind: string }>(
  database: Database,
  claim: AtMostOnceClaim<Answer>,
  { generation, writer, nowMs, sinceMs = 0, document, putOff }: LastTry,
): Promise<Known<Answer> | UnderWay> {
  checkTry(generation);
  const event = { what: "closed", generation, change: { generation, ...closedClaim(nowMs) } };
  return await database.transact(async (db) => {
    // Of a try that was put off the run knows that nothing was sent; what its document carries on, may have been.
    const lost = mayBeLostOf(claim, writer, putOff ? nowMs : sinceMs, document);
    if (!(await isMade(db, claim, writer, event, {}, lost))) {
      const row = await lockRow(db, claim);
      if (!(row && putOff && isHeldForNobody(row, putOff))) {
        if (row?.state === "held") return await openAnswer(db, row);
        if (row && (!isNotDone(claim, row) || row.generation >= generation)) return knownOf(claim, row);
        if (await holds(db, lost)) return unknownSince(generation, writer, nowMs);
      }
      await changeRow(db, claim, writer, event, { token: null, ...claim.whenTaken });
    }
    return { kind: "superseded", generation };
  });
}

/** By an execution of the try that has ended without sending, and never heard that it held the claim. */
function isHeldForNobody(row: ClaimRow, asked: ClaimedTry): boolean {
  const { state, execution } = row;
  return state === "held" && execution !== null && asked.unsent?.includes(execution) === true && isOfTry(row, asked);
}

/** Nothing was sent of the generation that the row gets, and nothing of it will be. */
export function closedClaim(nowMs: number): Columns {
  return { state: "closed", taken_at: new Date(nowMs).toISOString(), outcome: null, decision: null };
}

interface Decided<Answer> {
  generation: number;
  isDone: boolean;
  decision: DecisionOf<Answer>;
  /** The columns that say what was sent. */
  call: Columns;
  writer: Writer;
}

/**
 * An operator's decision. The answer of the service wins over it, and so do an earlier decision of an operator, and a
 * newer try, of which this one says nothing. Idempotent for the same decision.
 * @returns what holds
 */
export async function decide<Answer extends { kind: string }>(
  database: Database,
  claim: AtMostOnceClaim<Answer>,
  { generation, isDone, decision, call, writer }: Decided<Answer>,
): Promise<Known<Answer>> {
  checkTry(generation);
  const state = isDone ? claim.done : claim.notDone;
  const event = { what: `decided-${state}`, generation, change: { generation, state, decision } };
  return await database.transact(async (db) => {
    const first = { ...event.change, ...call, taken_at: new Date(decision.atMs).toISOString() };
    const decided = (of: number): Known<Answer> =>
      isDone ? claim.decided(decision) : { kind: "superseded", generation: of, decision };
    if (await isMade(db, claim, writer, { ...event, change: first }, claim.whenSettled)) return decided(generation);
    const before = there(await lockRow(db, claim));
    const verdict = verdictOn(claim, before, generation, isDone);
    if (verdict === "same") return knownOf(claim, before);
    if (verdict === "open") {
      const newest = Math.max(generation, before.generation);
      // A closed claim, and a generation that never left, know nothing of the call.
      const anew = before.state === "held" ? {} : { ...call, outcome: null };
      const change = { ...event.change, generation: newest, ...anew };
      await changeRow(db, claim, writer, { ...event, change }, claim.whenSettled);
      return decided(newest);
    }
    const change = verdict === claim.notDone && isDone ? { disputed: true } : undefined;
    if (change) await update(claim, change).execute(db);
    const detail = { ...decision, known: `already-${verdict}` };
    const refused = eventOf(claim, writer, { what: "decision-refused", generation, change, detail });
    await appendEvents(db, claim.chain, [refused]);
    return knownOf(claim, before);
  });
}

/** What is known of the try that the decision is about. `open`: it counts. `same`: it was decided so before. */
function verdictOn(claim: AtMostOnceClaim<{ kind: string }>, row: ClaimRow, generation: number, isDone: boolean) {
  const { done, notDone } = claim;
  if (row.state === done) return row.outcome === null && isDone ? "same" : done;
  // A newer try exists only if the one that is decided about was known not to be carried out.
  if (row.generation > generation) return notDone;
  if (row.state !== notDone || row.generation < generation) return "open";
  return row.outcome === null && !isDone ? "same" : notDone;
}

export function knownOf<Answer extends { kind: string }>(claim: AtMostOnceClaim<Answer>, row: ClaimRow): Known<Answer> {
  if (row.state === "held") return heldAnswer(row);
  if (row.state !== claim.done) return supersededAnswer<Answer>(row);
  // The service's answer, as it was settled; what an operator had decided before is kept beside it.
  if (row.outcome?.kind === claim.done) {
    return { ...(row.outcome as Answer), ...(row.decision !== null && { decision: row.decision }) };
  }
  if (row.decision === null) throw new LedgerError(`Nobody has said why ${claim.subject} counts as ${claim.done}.`);
  return claim.decided(row.decision as DecisionOf<Answer>);
}

type Held = Pick<ClaimRow, "generation" | "taken_at" | "workflow_id" | "run_id" | "execution">;

export function heldAnswer(row: Held): HeldClaim {
  const { generation, taken_at, workflow_id: workflowId, run_id: runId, execution } = row;
  const takenAt = taken_at.toISOString();
  const message =
    execution === LOST
      ? lostText(taken_at.getTime())
      : `It was taken to be sent at ${nairobiAndUtcTime(taken_at.getTime())}, and no outcome was written down.`;
  const takenBy = holderText({ workflowId, runId });
  return { kind: "unknown", generation, message, evidence: { takenAt, takenBy, sentAtMs: taken_at.getTime() } };
}

const LOST_CLAIM = "The ledger's database was restored, and may have lost that it was sent.";

function lostText(sinceMs: number): string {
  return `It was to be sent since ${nairobiAndUtcTime(sinceMs)}. ${LOST_CLAIM}`;
}

/** The run itself knows since when. */
function unknownSince(generation: number, writer: Writer, nowMs: number): HeldClaim {
  const evidence = { takenBy: holderText(writer), askedAt: new Date(nowMs).toISOString() };
  return { kind: "unknown", generation, message: LOST_CLAIM, evidence };
}

/** Of a try that is known not to be carried out. Beside an answer of the service stands the decision on an earlier try. */
function supersededAnswer<Answer>({ generation, decision }: ClaimRow): SupersededTry<DecisionOf<Answer>> {
  return { kind: "superseded", generation, ...(decision && { decision: decision as DecisionOf<Answer> }) };
}

/** Of a held claim, for a caller that would act on it: the call may be under way still. */
async function openAnswer(db: Queries, row: ClaimRow): Promise<HeldClaim | UnderWay> {
  return (await underWay(db, row)) ?? heldAnswer(row);
}

/** Of the row's generation it is known that nothing was carried out. */
function isNotDone({ notDone }: AtMostOnceClaim<{ kind: string }>, { state }: ClaimRow): boolean {
  return state === notDone || state === "closed";
}

function isOfTry(row: ClaimRow, { generation, token }: ClaimedTry): boolean {
  return row.generation === generation && row.token === storableText(token);
}

export async function readRow(db: Queries, claim: Claim): Promise<ClaimRow | undefined> {
  const { rows } = await sql<ClaimRow>`select * from ${sql.table(claim.table)} where ${whereRow(claim)}`.execute(db);
  return rows[0];
}

/** Until the transaction ends no other one changes it. */
async function lockRow(db: Queries, claim: Claim): Promise<ClaimRow | undefined> {
  const { rows } = await sql<ClaimRow>`
    select * from ${sql.table(claim.table)} where ${whereRow(claim)} for update`.execute(db);
  return rows[0];
}

function there(row: ClaimRow | undefined): ClaimRow {
  if (row === undefined) throw new Error("a claim vanished: rows are never deleted");
  return row;
}

/** One statement: makes the row with its event, if there is none, and nothing holds it back. */
function isMade(
  db: Queries,
  claim: Claim,
  writer: Writer,
  event: ClaimEvent & { change: Columns },
  columns: Columns = {},
  heldBack: RawBuilder<boolean> = sql<boolean>`false`,
): Promise<boolean> {
  const row = insertion(claim, event.change, { ...columns, ...writerColumns(writer) });
  const made = sql`${row} where not ${heldBack} on conflict do nothing returning generation`;
  return writeWithEvent(db, claim, made, eventOf(claim, writer, event));
}

/** The writer is the run that wrote the row last; an event that only doubts what it says leaves it there. */
function changeRow(db: Queries, claim: Claim, writer: Writer, event: ClaimEvent, columns: Columns = {}): Promise<void> {
  return changeClaim(db, claim, writer, event, { ...columns, ...writerColumns(writer) });
}

/** Events that doubt what a row says: they leave it to the run that wrote it. */
const DOUBTS = ["contradicted", "decision-refused"];

/** The claims of a table. @param owner as {@link claimIn} takes it */
export function provenClaims(
  { table, kind, noun, idColumn, columnsOfCall, done, notDone }: Omit<AtMostOnceTable<never>, "decided">,
  owner: Columns,
): ProvenRows<Columns> {
  const settled = [done, notDone].flatMap((state) => [`settled-${state}`, `decided-${state}`]);
  const empty = Object.fromEntries(["outcome", "decision", ...columnsOfCall].map((column) => [column, null]));
  const nothing: Columns = { ...empty, disputed: false };
  return {
    table,
    owner,
    idColumn,
    noun,
    // What changes a row; the others tell of what was refused.
    kinds: ["taken", "taken-again", "closed", ...settled, ...DOUBTS].map((what) => `${kind}${what}`),
    after: (before = nothing, { kind: told, content, writer }) => ({
      ...afterEvent(before, content),
      ...(!DOUBTS.includes(told.slice(kind.length)) && writer),
    }),
    columnsOf,
  };
}
