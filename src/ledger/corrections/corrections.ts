import { type Selectable, sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { appendEvents } from "../events/append-events.ts";
import type { Business, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import { writerColumns } from "../synced/rows.ts";
import type { CorrectionsTable } from "../tables/records.ts";

/** What is asked for: to credit a sale, and to issue another one in its place. */
export interface WantedCorrection {
  /** The number of the sale that is corrected. */
  invoice: string;
  correctedBy: string;
  creditNote: string;
  fingerprint: string;
}

/** `cancelled`: nothing was credited. `credited`: it was, and no corrected sale followed. */
export type CorrectionState = "begun" | "corrected" | "credited" | "cancelled";

export interface KeptCorrection extends WantedCorrection {
  state: CorrectionState;
  writer: Writer;
}

/**
 * Which sale is corrected by which: at most one correction of a sale, and one sale that a number corrects, however long
 * ago. Each change is an event of the business's chain. Functions throw LedgerUnavailableError when the ledger cannot
 * answer, and may then be called again as they were.
 */
export interface Corrections {
  /**
   * Takes both numbers, before anything is credited.
   * @returns the correction that has one of them already, unless it is the one asked for
   */
  begin(business: Business, wanted: WantedCorrection, writer: Writer): Promise<KeptCorrection | undefined>;
  /** Only by the run that began it, or that has taken it over. Idempotent. */
  end(business: Business, invoice: string, state: Exclude<CorrectionState, "begun">, writer: Writer): Promise<void>;
  /** The correction of that sale, or by it, that stands: not one that was cancelled. */
  find(business: Business, number: string): Promise<KeptCorrection[]>;
}

/** Without a corrected sale both numbers are free for another correction. */
const FREE: readonly CorrectionState[] = ["credited", "cancelled"];

export function createCorrections(database: Database): Corrections {
  return {
    begin: (business, wanted, writer) => database.transact((db) => begin(db, business, wanted, writer)),
    end: (business, invoice, state, writer) => database.transact((db) => end(db, business, invoice, state, writer)),
    find: (business, number) =>
      database.query(async (db) => (await about(db, business, [number])).filter(({ state }) => state !== "cancelled")),
  };
}

async function begin(
  db: Queries,
  business: Business,
  wanted: WantedCorrection,
  writer: Writer,
): Promise<KeptCorrection | undefined> {
  await lockCorrections(db, business);
  const known = await about(db, business, [wanted.invoice, wanted.correctedBy]);
  const own = known.find(({ invoice }) => invoice === storableText(wanted.invoice));
  if (own && isSame(own, wanted)) {
    // An attempt that comes late must not begin anew what its run has ended.
    if (own.state === "corrected" || own.writer.runId === writer.runId) return undefined;
  } else if (own && !FREE.includes(own.state)) return own;
  const other = known.find(
    ({ state, invoice, correctedBy }) =>
      invoice !== own?.invoice && !FREE.includes(state) && correctedBy === storableText(wanted.correctedBy),
  );
  if (other) return other;
  await write(db, business, wanted, "begun", writer);
  return undefined;
}

async function end(
  db: Queries,
  business: Business,
  number: string,
  state: Exclude<CorrectionState, "begun">,
  writer: Writer,
): Promise<void> {
  await lockCorrections(db, business);
  const own = (await about(db, business, [number])).find(({ invoice }) => invoice === storableText(number));
  if (!own) throw new LedgerError(`The correction of ${number} was never begun.`);
  if (own.state === state || own.state === "corrected" || own.writer.runId !== writer.runId) return;
  await write(db, business, own, state, writer);
}

/** Two transactions about corrections of one business follow each other: each looks at the rows of two numbers. */
async function lockCorrections(db: Queries, business: Business): Promise<void> {
  const name = JSON.stringify(["corrections", ...Object.values(businessColumns(business))]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
}

/** Those of which one of the numbers is the corrected or the correcting one. */
async function about(db: Queries, business: Business, numbers: readonly string[]): Promise<KeptCorrection[]> {
  const wanted = numbers.map(storableText);
  const rows = await db
    .selectFrom("corrections")
    .selectAll()
    .where((eb) => eb.and(businessColumns(business)))
    .where(sql<boolean>`(invoice = any(${wanted}) or corrected_by = any(${wanted}))`)
    .orderBy("invoice")
    .execute();
  return rows.map(keptOf);
}

function keptOf(row: Selectable<CorrectionsTable>): KeptCorrection {
  const { invoice, corrected_by: correctedBy, credit_note: creditNote, fingerprint, state } = row;
  const writer = { workflowId: row.workflow_id, runId: row.run_id };
  return { invoice, correctedBy, creditNote, fingerprint, state, writer };
}

function isSame(kept: KeptCorrection, wanted: WantedCorrection): boolean {
  return kept.fingerprint === wanted.fingerprint && kept.correctedBy === storableText(wanted.correctedBy);
}

async function write(
  db: Queries,
  business: Business,
  wanted: WantedCorrection,
  state: CorrectionState,
  writer: Writer,
): Promise<void> {
  const { invoice, correctedBy, creditNote, fingerprint } = wanted;
  const content = { invoice, correctedBy, creditNote };
  const kind = `correction-${state === "begun" ? "begun" : "ended"}`;
  const event = { kind, subject: `correction of ${invoice}`, content: { ...content, state }, writer };
  const [number = 0] = await appendEvents(db, business, [event]);
  const change = {
    corrected_by: storableText(correctedBy),
    credit_note: storableText(creditNote),
    fingerprint,
    state,
    event_number: number,
    ...writerColumns(writer),
  };
  await db
    .insertInto("corrections")
    .values({ ...businessColumns(business), invoice: storableText(invoice), ...change })
    .onConflict((conflict) => conflict.columns(["connection", "business_id", "invoice"]).doUpdateSet(change))
    .execute();
}
