import { sql } from "kysely";

import type { Database, Queries } from "./database.ts";
import { storableText } from "./storable-text.ts";

/**
 * - `not-read`: an answer lacks what a setting of the dialect names
 * - `ignored`: the service took no notice of what was sent under a setting's name
 * - `odd-row`: rows of a list that are not of their form, and were left out
 */
type ObservationKind = "not-read" | "ignored" | "odd-row";

/** Something in an answer that does not fit the dialect, and that stops nothing. Holds no value of a customer. */
export interface Observation {
  service: "compliance" | "accounting";
  connection: string;
  businessId?: string | undefined;
  kind: ObservationKind;
  /** The setting, such as `stock.report`; of odd rows, the list and the field. */
  subject: string;
  /** The setting's value when it was seen; absent where the subject is no setting. */
  value?: string | boolean | null | undefined;
  /** In words, for an operator. */
  message: string;
}

export interface KeptObservation extends Observation {
  count: number;
  firstSeenAtMs: number;
  lastSeenAtMs: number;
}

export type Observations = ReturnType<typeof createObservationLog>;

/** A diagnosis has nothing to wait for. */
const WITHIN_MS = 3_000;
const MOST_LISTED = 200;

/** Every function throws LedgerUnavailableError when the ledger cannot answer. */
export function createObservationLog(database: Database) {
  return {
    /** @param times how often it was seen since it was kept last */
    note: (observation: Observation, times: number) => database.query((db) => note(db, observation, times), WITHIN_MS),
    /** The latest first, without what has not been seen for `withinDays`. */
    list: (withinDays: number) => database.query((db) => list(db, withinDays), WITHIN_MS),
  };
}

async function note(db: Queries, observation: Observation, times: number): Promise<void> {
  const { service, connection, businessId = "-", kind, subject, value, message } = observation;
  await db
    .insertInto("observations")
    .values({
      service,
      connection,
      business_id: storableText(businessId),
      kind,
      subject: storableText(subject),
      value: value === undefined ? "" : storableText(JSON.stringify(value)),
      message: storableText(message),
      count: times,
    })
    .onConflict((conflict) =>
      conflict.columns(["service", "connection", "business_id", "kind", "subject", "value"]).doUpdateSet({
        message: sql.ref("excluded.message"),
        count: sql`observations.count + excluded.count`,
        last_seen_at: sql`clock_timestamp()`,
      }),
    )
    .execute();
}

async function list(db: Queries, withinDays: number): Promise<KeptObservation[]> {
  const rows = await db
    .selectFrom("observations")
    .selectAll()
    .where("last_seen_at", ">", sql<Date>`clock_timestamp() - make_interval(days => ${withinDays})`)
    .orderBy("last_seen_at", "desc")
    .limit(MOST_LISTED)
    .execute();
  return rows.map((row) => ({
    service: row.service,
    connection: row.connection,
    ...(row.business_id !== "-" && { businessId: row.business_id }),
    kind: row.kind,
    subject: row.subject,
    ...(row.value !== "" && { value: JSON.parse(row.value) as string | boolean | null }),
    message: row.message,
    count: Number(row.count),
    firstSeenAtMs: row.first_seen_at.getTime(),
    lastSeenAtMs: row.last_seen_at.getTime(),
  }));
}
