import type { ColumnType } from "kysely";

/** The head of each chain, outside of the chain: a last event that is gone would not be missed otherwise. */
interface EventHeadsTable {
  connection: string;
  business_id: string;
  count: ColumnType<string, number, number>;
  last_hash: string;
}

export interface EventsTable {
  connection: string;
  business_id: string;
  number: ColumnType<string, number, never>;
  at: Date;
  kind: string;
  subject: string;
  key: string | null;
  workflow_id: string;
  run_id: string;
  /** Canonical JSON, kept as text: the hash is over these bytes. */
  content: string;
  previous_hash: string;
  hash: string;
}

/** The chains. */
export interface EventTables {
  event_heads: EventHeadsTable;
  events: EventsTable;
}
