import { sql } from "kysely";

import type { QuotaWindow } from "./counts.ts";

/** The columns as they are read; instants become times from now by the database's clock. */
export const COLUMNS = sql`
  number, reserved, spent, seen, in_flight, request_limit, length_ms, told, strangers_for,
  extract(epoch from ends_at - statement_timestamp()) * 1000 as ends_in_ms`;

export interface QuotaRow {
  /** `bigint` and `numeric` come as text. */
  number: string;
  ends_in_ms: string;
  reserved: number;
  spent: number;
  seen: number;
  in_flight: number;
  request_limit: number;
  length_ms: number;
  told: boolean;
  strangers_for: number;
}

export function windowOf(row: QuotaRow): QuotaWindow {
  return {
    number: Number(row.number),
    endsInMs: Number(row.ends_in_ms),
    lengthMs: row.length_ms,
    told: row.told,
    limit: row.request_limit,
    spent: row.spent,
    inFlight: row.in_flight,
    strangers: row.strangers_for > 0 || row.seen > row.reserved,
  };
}
