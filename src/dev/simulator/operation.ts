import type { IncomingHttpHeaders } from "node:http";
import type { CallFacts } from "./call-log.ts";
import type { DocumentRecord } from "./document-record.ts";
import type { Caller } from "./keyring.ts";
import type { RequestFields } from "./request-fields.ts";
import type { Business, Scope } from "./scenario-schema.ts";

/** What a call looks like before anybody judged it. */
export interface RawCall {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  body: string;
}

/** A call with a good key, a free place in its window and the scope it needs. */
export interface AdmittedCall {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly query: RequestFields;
  /** The business named where the operation expects it; throws the refusal. */
  business(): Business;
  /** The body's fields; throws when it is not a JSON object. An empty body has none. */
  body(): RequestFields;
  /** The parsed body as it came. */
  rawBody(): unknown;
  /** Refuses query parameters that were not read. */
  refuseOtherQuery(): void;
  /** Adds facts to the call's entry in the log. */
  note(facts: CallFacts): void;
  /** Writes the call into the document's own list. */
  touch(record: DocumentRecord): void;
  markReplayed(): void;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  /** JSON, unless `contentType` says that it is the text to send. */
  body: unknown;
  contentType?: string;
}

/** One operation of the API. */
export interface Operation {
  name: string;
  method: "GET" | "POST" | "PUT";
  path: string;
  /** Null where the document shows none: any good key may call it. */
  scope: Scope | null;
  businessIdIn: "query" | "body";
  /** What the call is about, as far as the request itself tells; never throws. */
  facts?: (params: Readonly<Record<string, string>>, body: Readonly<Record<string, unknown>>) => CallFacts;
  handle(call: AdmittedCall): Answer;
}

/** A text field of an unchecked body, for the facts of a call. */
export function textIn(body: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = body[name];
  return typeof value === "string" ? value : null;
}
