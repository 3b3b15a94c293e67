import type { z } from "zod";

import type { HttpAnswer } from "./http-answer.ts";
import { parseJson, parseShallowJson } from "./json.ts";
import { ListRows } from "./list-rows.ts";
import type { TransportRequest } from "./transport.ts";

const MIB = 1024 * 1024;

/** Of the body of any answer but a list, and of one row of a list, decoded. */
const LONGEST_BODY_BYTES = 4 * MIB;
/** Of a list: that of a business's items has no pages. */
const LONGEST_LIST_BYTES = 64 * MIB;
/** With more of them the answer is not the list that was asked for. */
const MOST_ODD_ROWS = 100_000;
/** Enough for an excerpt. */
const BEGINNING_BYTES = 4_000;

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

type Read<Data> = { data: Data; odd?: readonly OddRow[] } | { issues: string[] };

/** Turns a success's body into data, or says what is wrong with it. */
export type ReadBody<Data> = (
  answer: Pick<HttpAnswer, "bodyText" | "bodyLength" | "headers" | "json" | "problem">,
) => Read<Data>;

/** Reads a list whose body is never whole in memory: row by row, as it comes. */
export interface ReadList<Data> {
  begin: () => { take: (piece: Uint8Array) => void; end: () => Read<Data> };
}

/** What a call sends with, so that its answer can be read. */
export interface BodyReader<Data> {
  request: Pick<TransportRequest, "maxBodyBytes" | "onBody">;
  read: (answer: HttpAnswer) => Read<Data>;
  /** The body's beginning, for people. */
  excerptOf: (answer: HttpAnswer) => string;
}

/**
 * @param more `isList`: a list that is read whole, for whoever finds out names; `onBody`: takes a file's bytes as they
 * come
 */
export function bodyReader<Data>(
  read: ReadBody<Data> | ReadList<Data>,
  { isList = false, onBody }: { isList?: boolean; onBody?: TransportRequest["onBody"] } = {},
): BodyReader<Data> {
  if (!("begin" in read)) {
    const maxBodyBytes = isList || onBody ? LONGEST_LIST_BYTES : LONGEST_BODY_BYTES;
    return { request: { maxBodyBytes, onBody }, read, excerptOf: ({ bodyText }) => bodyText };
  }
  const reading = read.begin();
  let beginning = "";
  const take = (piece: Uint8Array): Promise<void> => {
    if (beginning === "") beginning = Buffer.from(piece.subarray(0, BEGINNING_BYTES)).toString();
    reading.take(piece);
    return Promise.resolve();
  };
  return {
    request: { maxBodyBytes: LONGEST_LIST_BYTES, onBody: take },
    read: () => reading.end(),
    excerptOf: ({ bodyText }) => (bodyText === "" ? beginning : bodyText),
  };
}

const MOST_ISSUES = 5;

/** Reads a body that a schema describes. */
export function bodyOf<Body, Data>(schema: z.ZodType<Body>, pick: (body: Body) => Data): ReadBody<Data> {
  return ({ json, problem }) => {
    if (json === undefined) return { issues: [`the body is ${problem ?? "not JSON"}`] };
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
  /** The names under which the rows are in the body. */
  path: readonly string[];
  /** Of the body around the rows; the list itself is empty there. */
  body: z.ZodType<Body>;
  row: z.ZodType<Row>;
  /** Fields by which a row is known. */
  names: readonly string[];
  data: (body: Body, rows: Row[]) => Data;
}

/** Reads a list row by row: one that is not of its form must not hide the others. */
export function rowsOf<Body, Row, Data>(list: RowsOf<Body, Row, Data>): ReadList<Data> {
  return {
    begin() {
      const rows: Row[] = [];
      const odd: OddRow[] = [];
      let problem: string | undefined;
      const take = (text: string): void => {
        if (problem !== undefined) return;
        const raw = parseShallowJson(text);
        if ("problem" in raw) {
          ({ problem } = raw);
          return;
        }
        const row = list.row.safeParse(raw.json);
        if (row.success) rows.push(row.data);
        else if (odd.length < MOST_ODD_ROWS) odd.push(oddRow(raw.json, row.error, list.names));
        else problem = `not the list that was asked for: more than ${MOST_ODD_ROWS} of its rows are not of their form`;
      };
      const text = new ListRows(list.path, LONGEST_BODY_BYTES, take);
      return {
        take: (piece) => text.take(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)),
        end() {
          const around = parseJson(text.end());
          const wrong = problem ?? text.problem ?? ("problem" in around ? around.problem : undefined);
          if (wrong !== undefined || "problem" in around) return { issues: [`the body is ${wrong}`] };
          const body = list.body.safeParse(around.json);
          return body.success ? { data: list.data(body.data, rows), odd } : { issues: shortIssues(body.error) };
        },
      };
    },
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
