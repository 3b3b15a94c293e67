import type { ColumnType, JSONColumnType } from "kysely";

/** Exact in the database, and text on both ways. */
export type Numeric = ColumnType<string, string, string>;
export type NumericOrNull = ColumnType<string | null, string | null, string | null>;

export type Json = JSONColumnType<object | null, string | null, string | null>;

/** The event that a row was written with; `bigint`, far below 2^53. */
export type EventNumber = ColumnType<string, number, number>;

/** Who wrote the row last. */
export interface Written {
  workflow_id: string;
  run_id: string;
}

/** Of a business: `-` when the key's reach names it, or for none. */
export interface OfBusiness {
  connection: string;
  business_id: string;
}
