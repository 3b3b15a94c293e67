import { type RawBuilder, sql } from "kysely";

import type {
  AppliedMovement,
  BranchHold,
  DecidedApplied,
  KnownMovement,
  MovementDecision,
  MovementOrigin,
  MovementOutcome,
  OperatorDecision,
} from "../../contract/index.ts";
import {
  closedClaim,
  decide,
  ended,
  type EndedTry,
  knownOf,
  type LastTry,
  readOrClose,
  readRow,
  settle,
  type SettledTry,
  take,
  type TakeClaim,
} from "../claims/at-most-once.ts";
import { columnsOf, eventOf } from "../claims/claim.ts";
import type { Database, Queries } from "../database.ts";
import { DECIDED, subjectOf } from "../documents/row.ts";
import { appendEvents, type Business, businessColumns, type Writer, writerColumns } from "../events/chain.ts";
import { assignments, unixMs } from "../statements.ts";
import { storableText } from "../storable-text.ts";
import { balanceAround } from "./balance-around.ts";
import { type BranchPair, holdBranch, isHeldBack, isLookedAt, lookedAt, openHold, openHolds } from "./branch-holds.ts";
import {
  type ClaimedMovement,
  isSameMovement,
  movementClaim,
  movementColumns,
  type MovementKey,
  movementOf,
  MOVEMENTS,
  originColumns,
} from "./movement.ts";
import { goodsTaken, type GoodsTakenRequest } from "./of-sale.ts";

/** Why nothing was taken. */
type NotTaken =
  /** An operator has acknowledged that it was refused, or held: in an earlier run, which dropped it. */
  | { kind: "given-up" }
  /** Movements to a named branch are held until somebody has looked at the answer to another one. */
  | { kind: "branch-held"; hold: BranchHold }
  /** The reference stands for another movement. */
  | { kind: "different"; claimed: ClaimedMovement; state: "applied" | "held" };

export interface TakeRequest extends MovementKey, TakeClaim {
  of: MovementOrigin;
  movement: ClaimedMovement;
  /** If the movement names a branch: the name and the form under which it is sent. */
  branchSentAs?: string | undefined;
}

export interface CloseOneRequest extends MovementKey, Omit<LastTry, "document"> {
  /** The document that it belongs to. */
  of?: Pick<MovementOrigin, "type" | "number"> | undefined;
}

export interface CloseRequest {
  keys: readonly MovementKey[];
  writer: Writer;
  nowMs: number;
}

export interface DecideRequest extends MovementKey {
  generation: number;
  decision: MovementDecision;
  movement: ClaimedMovement;
  of: MovementOrigin;
  writer: Writer;
}

/** A movement of which an operator's decision and a late answer, or two answers, cannot both be true. */
export interface Dispute extends MovementKey {
  businessId: string;
  atMs: number;
  /** What counts now. */
  state: "held" | "applied" | "not-applied" | "closed";
  decision: MovementDecision | undefined;
  /** What contradicts it. */
  outcome: MovementOutcome;
}

export type StockClaims = ReturnType<typeof createStockClaims>;

/**
 * Stock movements, each sent at most once (claims/at-most-once.ts), and what is kept of them. Each function is one
 * statement or one transaction; it throws LedgerUnavailableError while the ledger cannot answer, and may then be called
 * again as it was.
 */
export function createStockClaims(database: Database) {
  return {
    take: (request: TakeRequest) => takeMovement(database, request),
    ended: (request: MovementKey & EndedTry) => ended(database, movementClaim(request), request),
    settle(request: MovementKey & SettledTry<MovementOutcome>) {
      const outcome = keptOutcome(request.outcome);
      const otherBranch = outcome.kind === "applied" ? outcome.otherBranch : undefined;
      const hold = otherBranch && ((db: Queries) => holdBranch(db, request, otherBranch));
      return settle(database, movementClaim(request), { ...request, outcome }, hold);
    },
    readOrClose: ({ of, ...request }: CloseOneRequest) =>
      readOrClose(database, movementClaim(request), { ...request, document: of && subjectOf(of) }),
    read: (key: MovementKey): Promise<KnownMovement | { kind: "none" }> =>
      database.query(async (db) => {
        const claim = movementClaim(key);
        const row = await readRow(db, claim);
        return row === undefined ? { kind: "none" } : knownOf(claim, row);
      }),
    /** The deductions of a sale that are applied, or of unknown outcome, in the order in which they were taken. */
    goodsTaken: (request: GoodsTakenRequest) => database.query((db) => goodsTaken(db, request)),
    /** Closes the claims of movements that nobody holds, so that no late attempt sends one. */
    close: (request: CloseRequest) => database.transact((db) => close(db, request)),
    decide({ movement, of, ...request }: DecideRequest): Promise<KnownMovement> {
      const call = { ...originColumns(of), ...movementColumns(movement) };
      const decided = { ...request, isDone: request.decision.applied, call };
      return decide(database, movementClaim(request), decided);
    },
    /**
     * Evidence for an unknown movement: the newest balance of the same item in the same branch that was answered before
     * this claim was taken, the oldest of a movement taken after it, and the other movements that may lie between those
     * two, the `after` movement itself included. Undefined without a claim, or when there is neither balance.
     */
    balanceAround: (key: MovementKey) => database.transact((db) => balanceAround(db, key)),
    /** Why no movement of the connection to a named branch is sent at present; undefined: they are. */
    branchHold: (connection: string, sentAs: string) => database.query((db) => openHold(db, connection, sentAs)),
    /** All that hold back movements to named branches, the oldest first. */
    openBranchHolds: () => database.query(openHolds),
    acknowledgeBranch: (key: MovementKey, other: BranchPair, decision: OperatorDecision) =>
      database.transact((db) => lookedAt(db, key, other, decision)),
    isBranchAcknowledged: (business: Business, other: BranchPair) =>
      database.query((db) => isLookedAt(db, business, other)),
    /**
     * Movements of which a decision and a late answer of the service cannot both be true, by the newest event about
     * that, not older than `days`; at most 100, the newest first.
     */
    disputes: (days: number) =>
      database.query((db) => disputes(db, sql`e.at > clock_timestamp() - ${days} * interval '1 day'`)),
    /** The same of one movement, however old; undefined: there is none. */
    disputeOf: (key: MovementKey) => database.query((db) => disputeOf(db, key)),
  };
}

async function takeMovement(database: Database, request: TakeRequest) {
  const { connection, branchSentAs, movement, of } = request;
  const isGivenUp = isDecidedToBeGivenUp(request);
  const isHeld = branchSentAs === undefined ? undefined : isHeldBack(connection, branchSentAs);
  return await take<AppliedMovement | DecidedApplied, NotTaken>(database, movementClaim(request), request, {
    call: { ...originColumns(of), ...movementColumns(movement) },
    differs(row) {
      const claimed = movementOf(row);
      if (!claimed || isSameMovement(claimed, movement)) return undefined;
      return { kind: "different", claimed, state: row.state === "held" ? "held" : "applied" };
    },
    document: subjectOf(of),
    heldBack: {
      holds: isHeld ? sql`(${isGivenUp} or ${isHeld})` : isGivenUp,
      async why(db) {
        const { rows } = await sql<{ given_up: boolean }>`select ${isGivenUp} as given_up`.execute(db);
        if (rows[0]?.given_up) return { kind: "given-up" };
        const hold = branchSentAs === undefined ? undefined : await openHold(db, connection, branchSentAs);
        return hold && { kind: "branch-held", hold };
      },
    },
  });
}

/** One that was held is given up without a row of its own. */
function isDecidedToBeGivenUp({ of, referenceId, writer, ...business }: TakeRequest): RawBuilder<boolean> {
  const { connection, business_id } = businessColumns(business);
  const [subject, reference] = [subjectOf(of), storableText(referenceId)];
  return sql<boolean>`exists (
    select from events as e
    where (e.connection, e.business_id, e.subject) = (${connection}, ${business_id}, ${subject})
      and e.kind = ${DECIDED} and e.workflow_id = ${storableText(writer.workflowId)}
      and (e.content::json ->> 'update', e.content::json ->> 'code', e.content::json ->> 'subject')
        = ('acknowledge', 'stock-refused', ${reference}))`;
}

/** What the service answered, without what an activity adds for its workflow. */
function keptOutcome(outcome: MovementOutcome): MovementOutcome {
  if (outcome.kind !== "applied") return outcome;
  const { unsettled: _unsettled, ...answered } = outcome;
  return answered;
}

/** Closes all that nobody holds, with two statements for the rows and one for their events. */
async function close(db: Queries, { keys, writer, nowMs }: CloseRequest): Promise<void> {
  const [first] = keys;
  if (!first) return;
  // In one order, so that two who close the same movements do not wait for each other.
  const references = keys.map(({ referenceId }) => storableText(referenceId)).toSorted();
  const { connection, business_id } = businessColumns(first);
  const by = writerColumns(writer);
  const asClosed = assignments({ ...columnsOf(closedClaim(nowMs)), token: null, ...MOVEMENTS.whenTaken, ...by });
  const made = await sql<{ reference_id: string; generation: number }>`
    insert into movements (connection, business_id, reference_id, generation, state, taken_at, workflow_id, run_id)
    select ${connection}, ${business_id}, reference_id, 1, 'closed', ${new Date(nowMs)}::timestamptz, ${sql.join(Object.values(by))}
    from unnest(${references}::text[]) with ordinality as one (reference_id, place) order by place
    on conflict do nothing returning reference_id, generation`.execute(db);
  const closed = await sql<{ reference_id: string; generation: number }>`
    update movements as m set generation = m.generation + 1, ${sql.join(asClosed)}
    from (
      select reference_id from movements
      where connection = ${connection} and business_id = ${business_id} and reference_id = any(${references}::text[])
        and reference_id <> all(${made.rows.map(({ reference_id }) => reference_id)}::text[])
        and state in ('not-applied', 'closed')
      order by reference_id for update) as free
    where m.connection = ${connection} and m.business_id = ${business_id} and m.reference_id = free.reference_id
    returning m.reference_id, m.generation`.execute(db);
  // Last: a transaction that has appended holds the chain of the business, and must wait for no row.
  const events = [...made.rows, ...closed.rows].map(({ reference_id: referenceId, generation }) => {
    const change = { generation, ...closedClaim(nowMs) };
    return eventOf(movementClaim({ ...first, referenceId }), writer, { what: "closed", generation, change });
  });
  await appendEvents(db, first, events);
}

const MOST_DISPUTES = 100;

async function disputeOf(db: Queries, key: MovementKey): Promise<Dispute | undefined> {
  const { connection, business_id } = businessColumns(key);
  const reference = storableText(key.referenceId);
  const where = sql`(c.connection, c.business_id, c.reference_id) = (${connection}, ${business_id}, ${reference})`;
  return (await disputes(db, where))[0];
}

async function disputes(db: Queries, where: RawBuilder<unknown>): Promise<Dispute[]> {
  const { rows } = await sql<Omit<Dispute, "decision"> & { decision: MovementDecision | null }>`
    select c.connection, c.business_id as "businessId", c.reference_id as "referenceId", ${unixMs(sql`e.at`)} as "atMs",
      c.state, c.decision, e.content::json -> 'detail' as outcome
    from movements as c join lateral (
      select at, content from events as e
      where (e.connection, e.business_id, e.subject) = (c.connection, c.business_id, ${`${MOVEMENTS.noun} `} || c.reference_id)
        and e.kind = ${`${MOVEMENTS.kind}contradicted`}
      order by e.number desc limit 1) as e on true
    where c.disputed and ${where}
    order by e.at desc limit ${MOST_DISPUTES}`.execute(db);
  return rows.map((row) => ({ ...row, decision: row.decision ?? undefined }));
}
