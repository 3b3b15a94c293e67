import { z } from "zod";

import type { HttpAnswer } from "./request.ts";
import { isDeeperThanRead, parseJson, parseShallowJson, TOO_DEEP } from "./json.ts";
import type { TransportRequest } from "./transport.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);

const MIB = 1024 * 1024;

/** A name of the path, and the spaces behind it, are no longer. */
const LONGEST_NAME_BYTES = 256;

/**
 * Finds the rows of a list while its JSON text comes in, so that it is never held whole: each row is given out as a
 * text of its own. It looks only for where rows begin and end; whether a row's text is JSON, its parser finds.
 */
class ListRows {
  /** Bytes as characters, as they stand in the text. */
  readonly #path: readonly string[];
  readonly #onRow: (text: string) => void;
  readonly #longestBytes: number;
  /** Of the row that has begun, and of all that is around the rows. */
  #row: Buffer[] = [];
  #rowBytes = 0;
  readonly #envelope: Buffer[] = [];
  #envelopeBytes = 0;
  /** The end of the envelope. */
  #tail = "";
  #problem: string | undefined;
  /** Open lists and objects. */
  #level = 0;
  /** By level: the name of the value that comes next, or is open. */
  readonly #names: (string | undefined)[] = [];
  #inString = false;
  #escaped = false;
  /** The level inside the list, while it is open. */
  #rowsLevel: number | undefined;
  #found = false;
  #rowBegun = false;
  #rowWanted = false;

  /**
   * @param path the names under which the list is; none: the text itself is the list
   * @param longestBytes of a row, and of all that is around the rows
   */
  constructor(path: readonly string[], longestBytes: number, onRow: (text: string) => void) {
    this.#path = path.map((name) => Buffer.from(name).toString("latin1"));
    this.#longestBytes = longestBytes;
    this.#onRow = onRow;
  }

  /** Why the text is not read; nothing of it is looked at any more. */
  get problem(): string | undefined {
    return this.#problem;
  }

  get found(): boolean {
    return this.#found;
  }

  take(piece: Buffer): void {
    let from = 0;
    let [level, inString, escaped] = [this.#level, this.#inString, this.#escaped];
    for (let at = 0; at < piece.length && this.#problem === undefined; at++) {
      const byte = piece[at];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
        continue;
      }
      if (level === this.#rowsLevel) {
        if (byte === COMMA || byte === CLOSE_LIST) {
          if (this.#rowBegun) this.#endRow(piece.subarray(from, at));
          // `[,` and `,]`
          else if (byte === COMMA || this.#rowWanted) this.#problem = "not JSON";
          this.#rowWanted = byte === COMMA;
          from = at;
          if (byte === COMMA) continue;
          this.#rowsLevel = undefined;
        } else if (!this.#rowBegun && !SPACES.has(byte ?? 0)) {
          this.#rowBegun = true;
          from = at;
        }
      }
      if (byte === QUOTE) inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        const isList = byte === OPEN_LIST && this.#isList(level);
        level += 1;
        if (isDeeperThanRead(level)) this.#problem = TOO_DEEP;
        if (this.#rowsLevel === undefined) this.#names[level] = undefined;
        if (!isList) continue;
        // JSON.parse would take the last one, and the rows of the first are given out.
        if (this.#found) this.#problem = "the list is there twice";
        this.#found = true;
        this.#rowsLevel = level;
        this.#addToEnvelope(piece.subarray(from, at + 1));
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) level -= 1;
      else if (this.#rowsLevel === undefined) {
        if (byte === COLON) this.#names[level] = this.#nameBefore(piece.subarray(from, at));
        else if (byte === COMMA) this.#names[level] = undefined;
      }
    }
    [this.#level, this.#inString, this.#escaped] = [level, inString, escaped];
    if (this.#problem !== undefined) return;
    if (this.#rowsLevel === undefined) this.#addToEnvelope(piece.subarray(from));
    else if (this.#rowBegun) this.#addToRow(piece.subarray(from));
  }

  /** What is around the rows: the text, with an empty list. */
  end(): string {
    return Buffer.concat(this.#envelope).toString();
  }

  #isList(level: number): boolean {
    const isThere = level === this.#path.length && this.#path.every((name, index) => this.#names[index + 1] === name);
    return isThere && this.#rowsLevel === undefined;
  }

  /** Undefined for one that is written with escapes, too. */
  #nameBefore(colon: Buffer): string | undefined {
    const text = this.#tail + colon.subarray(-LONGEST_NAME_BYTES).toString("latin1");
    return /(?<!\\)"([^"\\]*)"\s*$/.exec(text)?.[1];
  }

  #endRow(last: Buffer): void {
    this.#addToRow(last);
    const text = Buffer.concat(this.#row).toString();
    this.#row = [];
    this.#rowBytes = 0;
    this.#rowBegun = false;
    if (this.#problem === undefined) this.#onRow(text);
  }

  // What a piece is cut from would be kept whole without a copy.
  #addToRow(piece: Buffer): void {
    this.#rowBytes += piece.length;
    if (this.#rowBytes > this.#longestBytes) this.#problem = `a row is longer than ${this.#bound}`;
    else this.#row.push(Buffer.from(piece));
  }

  #addToEnvelope(piece: Buffer): void {
    this.#envelopeBytes += piece.length;
    if (this.#envelopeBytes > this.#longestBytes) this.#problem = `longer than ${this.#bound} besides its rows`;
    else this.#envelope.push(Buffer.from(piece));
    this.#tail = (this.#tail + piece.subarray(-LONGEST_NAME_BYTES).toString("latin1")).slice(-LONGEST_NAME_BYTES);
  }

  get #bound(): string {
    return `${this.#longestBytes / MIB} MiB`;
  }
}

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
 * @param more `isList`: a list that is read whole, for a command that finds out names; `onBody`: takes a file's bytes
 *   as they come
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

/** A page of something in between is no answer of a service. */
export const anyJson: ReadBody<unknown> = bodyOf(z.unknown(), (body) => body);

function shortIssues(error: z.ZodError): string[] {
  const issues = error.issues.map((issue) => `${issue.path.map(String).join(".") || "body"}: ${issue.message}`);
  const more = issues.length - MOST_ISSUES;
  return more > 0 ? [...issues.slice(0, MOST_ISSUES), `and ${more} more`] : issues;
}

interface RowsOf<Body, Row, Data> {
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
          if (body.success && !text.found) return { issues: ["the body names its list in another way than is read"] };
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
