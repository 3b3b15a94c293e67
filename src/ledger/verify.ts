import { sql } from "kysely";

import { BILL_PAYMENTS } from "./books/bill-payments.ts";
import { provenEntries } from "./books/mirror.ts";
import { PURCHASES } from "./books/purchases.ts";
import { provenClaims } from "./claims/at-most-once.ts";
import { afterEvent, type Columns, columnsOf } from "./claims/claim.ts";
import type { Database, Queries } from "./database.ts";
import { CLAIM_CHANGES, DOCUMENT_SAVED, documentColumns, NO_CLAIM, type RowContent } from "./documents/row.ts";
import { accountingChain, type Chain, connectionOfChain } from "./events/chain.ts";
import { type ChainFinding, type SeenHead, verifyChain } from "./events/verify-chain.ts";
import { type ProvenRows, type RowFinding, verifyRows } from "./events/verify-rows.ts";
import { MOVEMENTS } from "./stock/movement.ts";
import { SYNC_BATCHES } from "./sync-batches/sync-batches.ts";

export interface VerifyRequest {
  /** Of the Compliance API, of the accounting service, or one of each by the same name. */
  connection?: string | undefined;
  /** `-` for none; default: all. */
  businessId?: string | undefined;
  /**
   * What an earlier look saw: who can write to the database can write a whole chain anew, but not what was kept
   * elsewhere.
   */
  seen?: readonly SeenHead[] | undefined;
  /**
   * The sales and credit notes whose customers were erased, as a file outside of the database has them: who owns the
   * tables can say of any event that it was erased. Default: nobody looks.
   */
  erasures?: { has: (document: { connection: string; businessId: string; subject: string }) => boolean } | undefined;
}

/** What was found of a chain of events, and of the rows that they tell of. */
export interface VerifiedChain {
  connection: string;
  /** `-` for none. */
  businessId: string;
  /** Events that were looked at, as all that is counted here. */
  events: number;
  /** Of these, those of which something was erased. */
  erased: number;
  /** As the head says: to be kept elsewhere, for a later look to be held against. */
  head: { count: number; hash: string } | null;
  documents: number;
  /** Of these, sales and credit notes that have no document at the service, as far as the ledger knows. */
  withoutDocument: number;
  movements: number;
  purchases: number;
  billPayments: number;
  syncBatches: number;
  /** The first thousand. */
  findings: (ChainFinding | RowFinding)[];
  /** How many more. */
  moreFindings: number;
}

const LIST_WITHIN_MS = 30_000;
const MOST_FINDINGS = 1_000;

/**
 * Looks through the chains and their rows, one report each, in bounded memory. A chain that was seen earlier and has gone
 * is reported too.
 * @throws LedgerUnavailableError
 */
export async function* verifyLedger(
  database: Database,
  { connection, businessId, seen = [], erasures }: VerifyRequest = {},
): AsyncGenerator<VerifiedChain> {
  const isWanted = (chain: Chain): boolean =>
    (connection === undefined || [connection, accountingChain(connection).connection].includes(chain.connection)) &&
    (businessId === undefined || chain.business_id === businessId);
  const gone = new Set(seen.filter(({ count }) => count > 0));
  for (let after: Chain | undefined; ;) {
    const chain = await database.transact((db) => nextChain(db, after), LIST_WITHIN_MS);
    if (!chain) break;
    after = chain;
    if (!isWanted(chain)) continue;
    const ofChain = seen.filter((one) => one.connection === chain.connection && one.businessId === chain.business_id);
    for (const one of ofChain) gone.delete(one);
    yield await verified(database, chain, ofChain, erasures);
  }
  for (const one of gone) {
    const chain = { connection: one.connection, business_id: one.businessId };
    if (isWanted(chain)) yield await verified(database, chain, [one], erasures);
  }
}

async function verified(
  database: Database,
  chain: Chain,
  seen: readonly SeenHead[],
  erasures: VerifyRequest["erasures"],
): Promise<VerifiedChain> {
  const findings: VerifiedChain["findings"] = [];
  let moreFindings = 0;
  const find = (finding: ChainFinding | RowFinding): void => {
    if (findings.length < MOST_FINDINGS) findings.push(finding);
    else moreFindings += 1;
  };
  const rowsOf = <State>(proven: ProvenRows<State>) => verifyRows(database, chain, proven, find);
  const { connection, business_id: businessId } = chain;
  const isErasure = (subject: string): boolean => erasures?.has({ connection, businessId, subject }) ?? true;
  const looked = await verifyChain(database, chain, { seen, isErasure }, find);
  const sales = await rowsOf(provenDocuments({ ...chain, type: "sale" }));
  const notes = await rowsOf(provenDocuments({ ...chain, type: "credit_note" }));
  const movements = await rowsOf(provenClaims(MOVEMENTS, chain));
  const purchases = await rowsOf(provenEntries(PURCHASES, chain));
  const billPayments = await rowsOf(provenEntries(BILL_PAYMENTS, chain));
  const accounting = connectionOfChain(chain);
  const syncBatches =
    accounting === undefined ? 0 : await rowsOf(provenClaims(SYNC_BATCHES, { connection: accounting }));
  const withoutDocument = await database.transact((db) => countWithoutDocument(db, chain), LIST_WITHIN_MS);
  const rows = { documents: sales + notes, withoutDocument, movements, purchases, billPayments, syncBatches };
  return { connection, businessId, ...looked, ...rows, findings, moreFindings };
}

async function countWithoutDocument(db: Queries, chain: Chain): Promise<number> {
  const { count } = await db
    .selectFrom("documents")
    .select(sql<number>`count(*)::int`.as("count"))
    .where((eb) => eb.and(chain))
    .where("document_id", "is", null)
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * Every business that has events, a head, or both: from one to the next by the index, since a scan would read every
 * event.
 */
async function nextChain(db: Queries, after: Chain | undefined): Promise<Chain | undefined> {
  const beyond = after
    ? sql`where (connection, business_id) > (${after.connection}, ${after.business_id})`
    : sql`where true`;
  const { rows } = await sql<Chain>`
    select connection, business_id from (
      (select connection, business_id from event_heads ${beyond} order by connection, business_id limit 1)
      union all
      (select connection, business_id from events ${beyond} order by connection, business_id limit 1)
    ) as next order by connection, business_id limit 1`.execute(db);
  return rows[0];
}

/** What the last `document-saved` says, and the claim, of which each other event says what changed. */
interface State {
  saved?: string;
  claim: Columns;
}

const BEGINNING: State = { claim: NO_CLAIM };

/** Documents of a business and a type. */
function provenDocuments(owner: Chain & { type: string }): ProvenRows<State> {
  return {
    table: "documents",
    owner,
    idColumn: "number",
    noun: owner.type,
    kinds: [DOCUMENT_SAVED, ...CLAIM_CHANGES],
    named: [DOCUMENT_SAVED],
    after: (before = BEGINNING, { kind, content }) =>
      kind === DOCUMENT_SAVED ? { ...before, saved: content } : { ...before, claim: afterEvent(before.claim, content) },
    columnsOf: ({ saved = "", claim }) => ({
      ...documentColumns(JSON.parse(saved) as RowContent),
      ...columnsOf(claim),
    }),
  };
}
