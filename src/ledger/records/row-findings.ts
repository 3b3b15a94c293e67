import { sql } from "kysely";

import type { Queries } from "../database.ts";
import { canonicalJson } from "../events/canonical-json.ts";

export type Chain = { connection: string; business_id: string };
export type Row = Record<string, unknown>;

export type Table = "documents" | "document_lines" | "stock_movements" | "purchases";

/** A row that does not say what its event says. */
export type RowFinding =
  | { kind: "row-changed"; table: Table; subject: string; row: string; columns: string[] }
  | { kind: "row-missing"; table: Table; subject: string; row: string }
  | { kind: "row-extra"; table: Table; subject: string; row: string }
  /** The row names an event that is not there, or that is not the last of its document. */
  | { kind: "row-behind"; table: "documents" | "purchases"; subject: string; event: number; last: number | null };

/** Findings beyond {@link MOST_FINDINGS} are counted only. */
export interface RowFindings {
  findings: RowFinding[];
  moreFindings: number;
}

export const MOST_FINDINGS = 1_000;

export function addFinding(report: RowFindings, finding: RowFinding): void {
  if (report.findings.length < MOST_FINDINGS) report.findings.push(finding);
  else report.moreFindings += 1;
}

/** By subject: the last event of the kind that tells of it. */
export type LastTold = Map<string, { number: number; content: string }>;

export async function lastTold(db: Queries, chain: Chain, kind: string, subjects: string[]): Promise<LastTold> {
  const { rows } = await sql<{ subject: string; number: string; content: string }>`
    select distinct on (subject) subject, number, content from events
    where connection = ${chain.connection} and business_id = ${chain.business_id} and kind = ${kind}
      and subject = any(${subjects})
    order by subject, number desc`.execute(db);
  return new Map(rows.map(({ subject, number, content }) => [subject, { number: Number(number), content }]));
}

/** The columns whose values differ, JSON by what it says. */
export function differing(expected: Row, actual: Row): string[] {
  return Object.keys(expected).filter((column) => spelt(expected[column]) !== spelt(actual[column]));
}

function spelt(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" && value !== null ? canonicalJson(value) : String(value);
}
