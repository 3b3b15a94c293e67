import type { z } from "zod";
import { type OddRow, type ReadBody, shortIssues } from "./read-body.ts";

export interface RowsOf<Body, Row, Data> {
  /** Of the body around the rows, which are `unknown` to it. */
  body: z.ZodType<Body>;
  rows: (body: Body) => readonly unknown[];
  row: z.ZodType<Row>;
  /** Fields by which a row is known. */
  names: readonly string[];
  data: (body: Body, rows: Row[]) => Data;
}

/** Reads a list row by row: one that is not of its form must not hide the others. */
export function rowsOf<Body, Row, Data>(list: RowsOf<Body, Row, Data>): ReadBody<Data> {
  return ({ json }) => {
    if (json === undefined) return { issues: ["the body is not JSON"] };
    const body = list.body.safeParse(json);
    if (!body.success) return { issues: shortIssues(body.error) };
    const rows: Row[] = [];
    const odd: OddRow[] = [];
    for (const raw of list.rows(body.data)) {
      const row = list.row.safeParse(raw);
      if (row.success) rows.push(row.data);
      else odd.push(oddRow(raw, row.error, list.names));
    }
    return { data: list.data(body.data, rows), odd };
  };
}

function oddRow(raw: unknown, { issues: [issue] }: z.ZodError, names: readonly string[]): OddRow {
  const fields: Readonly<Record<string, unknown>> = typeof raw === "object" && raw !== null ? { ...raw } : {};
  const readable = names.flatMap((name) => {
    const value = fields[name];
    return typeof value === "string" && value !== "" ? [[name, value] as const] : [];
  });
  const path = issue?.path.map((part) => (typeof part === "number" ? "[]" : `.${String(part)}`)).join("") ?? "";
  return {
    names: Object.fromEntries(readable),
    field: path.replace(/^\./, ""),
    problem: issue?.message ?? "not of its form",
  };
}
