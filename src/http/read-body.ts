import type { z } from "zod";

import type { HttpAnswer } from "./http-answer.ts";

/**
 * A row of a list that is not of its form, and was left out of what was read. Holds no value but the names of the row.
 */
export interface OddRow {
  /** Those of the row's names that can be read: `id` and what else the list has. */
  names: Readonly<Record<string, string>>;
  /** The first wrong field, `lines[].quantity` for example; empty where the row is no object. */
  field: string;
  /** What was expected there. */
  problem: string;
}

/** Turns a success's body into data, or says what is wrong with it. */
export type ReadBody<Data> = (
  answer: Pick<HttpAnswer, "bodyText" | "bodyLength" | "headers" | "json">,
) => { data: Data; odd?: readonly OddRow[] } | { issues: string[] };

const MOST_ISSUES = 5;

/** Reads a body that a schema describes. */
export function bodyOf<Body, Data>(schema: z.ZodType<Body>, pick: (body: Body) => Data): ReadBody<Data> {
  return ({ json }) => {
    if (json === undefined) return { issues: ["the body is not JSON"] };
    const parsed = schema.safeParse(json);
    return parsed.success ? { data: pick(parsed.data) } : { issues: shortIssues(parsed.error) };
  };
}

export function shortIssues(error: z.ZodError): string[] {
  const issues = error.issues.map((issue) => `${issue.path.map(String).join(".") || "body"}: ${issue.message}`);
  const more = issues.length - MOST_ISSUES;
  return more > 0 ? [...issues.slice(0, MOST_ISSUES), `and ${more} more`] : issues;
}

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
