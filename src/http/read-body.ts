import type { z } from "zod";

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

/** A name of the path that is longer is not compared. */
const LONGEST_NAME_BYTES = 256;

/** Text that comes in pieces, up to a bound. */
class Pieces {
  #pieces: Buffer[] = [];
  length = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    // What a piece is cut from would be kept whole otherwise.
    this.#pieces.push(Buffer.from(piece));
  }

  take(): string {
    const text = this.#pieces.length === 1 ? this.#pieces[0]?.toString() : Buffer.concat(this.#pieces).toString();
    this.#pieces = [];
    this.length = 0;
    return text ?? "";
  }
}

/**
 * Finds the rows of a list while its JSON text comes in, so that it is never held whole: each row is given out as a
 * text of its own. It looks only for where rows begin and end; whether a row's text is JSON finds whoever parses it.
 */
class ListRows {
  readonly #path: readonly string[];
  readonly #onRow: (text: string) => void;
  readonly #longestBytes: number;
  readonly #row = new Pieces();
  readonly #envelope = new Pieces();
  #problem: string | undefined;
  /** Open lists and objects. */
  #level = 0;
  /** How many names of the path the open objects have: those inside the next are compared with the next name. */
  #matched = 0;
  #inString = false;
  #escaped = false;
  #name: number[] = [];
  #key: string | undefined;
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
    this.#path = path;
    this.#longestBytes = longestBytes;
    this.#onRow = onRow;
  }

  /** Why the text is not read; nothing of it is looked at any more. */
  get problem(): string | undefined {
    return this.#problem;
  }

  take(piece: Buffer): void {
    let from = 0;
    for (let at = 0; at < piece.length && this.#problem === undefined; at++) {
      const byte = piece[at] ?? 0;
      // Nearly all of a list is inside its rows.
      if (this.#rowsLevel !== undefined && this.#level > this.#rowsLevel) at = this.#inRow(piece, at, this.#rowsLevel);
      else if (this.#inString) this.#inText(byte);
      else if (this.#rowsLevel !== undefined && this.#level === this.#rowsLevel) {
        if (byte === COMMA || byte === CLOSE_LIST) {
          if (this.#rowBegun) this.#endRow(piece.subarray(from, at));
          // `[,` and `,]`
          else if (byte === COMMA || this.#rowWanted) this.#problem = "not JSON";
          this.#rowWanted = byte === COMMA;
          if (byte === CLOSE_LIST) this.#close();
          from = at;
        } else if (!this.#rowBegun && !SPACES.has(byte)) {
          this.#rowBegun = true;
          from = at;
          this.#structure(byte);
        } else this.#structure(byte);
      } else {
        this.#structure(byte);
        if (this.#rowsLevel !== undefined && this.#level === this.#rowsLevel && !this.#rowBegun) {
          this.#add(this.#envelope, piece.subarray(from, at + 1));
          from = at + 1;
        }
      }
    }
    if (this.#problem !== undefined) return;
    if (this.#rowsLevel === undefined) this.#add(this.#envelope, piece.subarray(from));
    else if (this.#rowBegun) this.#add(this.#row, piece.subarray(from));
  }

  /** What is around the rows: the text, with an empty list. */
  end(): string {
    return this.#envelope.take();
  }

  /** @returns where the row's object or list ends, or the piece's last byte */
  #inRow(piece: Buffer, start: number, rowsLevel: number): number {
    let [level, inString, escaped] = [this.#level, this.#inString, this.#escaped];
    let at = start;
    for (; at < piece.length; at++) {
      const byte = piece[at];
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        level += 1;
        if (isDeeperThanRead(level)) {
          this.#problem = TOO_DEEP;
          break;
        }
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        level -= 1;
        if (level === rowsLevel) break;
      }
    }
    [this.#level, this.#inString, this.#escaped] = [level, inString, escaped];
    return at;
  }

  #inText(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) {
      this.#inString = false;
      return;
    }
    if (this.#level === this.#matched + 1 && this.#name.length <= LONGEST_NAME_BYTES) this.#name.push(byte);
  }

  #structure(byte: number): void {
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        if (this.#level === this.#matched + 1) this.#name = [];
        return;
      case COLON:
        if (this.#level === this.#matched + 1) this.#key = nameOf(this.#name);
        return;
      case COMMA:
        this.#key = undefined;
        return;
      case OPEN_OBJECT:
        if (this.#isNext() && this.#matched + 1 < this.#path.length) this.#matched += 1;
        this.#open();
        return;
      case OPEN_LIST:
        this.#openList();
        return;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        this.#close();
        return;
      default:
    }
  }

  #isNext(): boolean {
    return this.#level === this.#matched + 1 && this.#key !== undefined && this.#key === this.#path[this.#matched];
  }

  #openList(): void {
    const isRoot = this.#level === 0 && this.#path.length === 0;
    const isIt = isRoot || (this.#isNext() && this.#matched + 1 === this.#path.length);
    this.#open();
    if (!isIt) return;
    // JSON.parse would take the last one, and the rows of the first are given out.
    if (this.#found) this.#problem = "the list is there twice";
    this.#found = true;
    this.#rowsLevel = this.#level;
  }

  #open(): void {
    this.#level += 1;
    this.#key = undefined;
  }

  #close(): void {
    this.#level -= 1;
    this.#matched = Math.max(0, Math.min(this.#matched, this.#level - 1));
    if (this.#rowsLevel !== undefined && this.#level < this.#rowsLevel) this.#rowsLevel = undefined;
  }

  #endRow(last: Buffer): void {
    this.#add(this.#row, last);
    this.#rowBegun = false;
    if (this.#problem === undefined) this.#onRow(this.#row.take());
  }

  #add(to: Pieces, piece: Buffer): void {
    if (piece.length === 0) return;
    if (to.length + piece.length > this.#longestBytes) {
      const bound = `${this.#longestBytes / (1024 * 1024)} MiB`;
      this.#problem = to === this.#row ? `a row is longer than ${bound}` : `longer than ${bound} besides its rows`;
      to.take();
    } else to.add(piece);
  }
}

function nameOf(bytes: readonly number[]): string | undefined {
  try {
    const name: unknown = JSON.parse(`"${Buffer.from(bytes).toString()}"`);
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}

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
