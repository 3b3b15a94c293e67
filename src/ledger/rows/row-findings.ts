import { canonicalJson } from "../events/canonical-json.ts";

export type Row = Record<string, unknown>;

/** Tables whose rows have events of their own, one subject each. */
export type MainTable = "documents" | "movements" | "purchases" | "bill_payments" | "sync_batches";

/** A row that does not say what its events say. `row` is the subject itself, or the key of a row that belongs to it. */
export type RowFinding =
  | { kind: "row-changed"; table: MainTable; subject: string; row: string; columns: string[] }
  | { kind: "row-missing"; table: MainTable; subject: string; row: string }
  /** The row names an event that is not there, or that is not the last one of its subject. */
  | { kind: "row-behind"; table: MainTable; subject: string; event: number; last: number | null }
  /** One of the subject's events is none that the product writes, so nothing says what the row was. */
  | { kind: "row-unproven"; table: MainTable; subject: string; event: number };

/** Findings beyond {@link MOST_FINDINGS} are counted only. */
export interface RowFindings {
  findings: RowFinding[];
  moreFindings: number;
}

const MOST_FINDINGS = 1_000;

export function addFinding(report: RowFindings, finding: RowFinding): void {
  if (report.findings.length < MOST_FINDINGS) report.findings.push(finding);
  else report.moreFindings += 1;
}

/** Expected of a column that has a value which no event tells. */
export const SOME_VALUE = Symbol("some value");

/** The columns whose values differ, JSON by what it says. */
export function differing(expected: Row, actual: Row): string[] {
  return Object.keys(expected).filter((column) => {
    const [wanted, found] = [expected[column], actual[column]];
    return wanted === SOME_VALUE ? found === null : spelt(wanted) !== spelt(found);
  });
}

function spelt(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" && value !== null ? canonicalJson(value) : String(value);
}
