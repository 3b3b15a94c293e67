import { parseJson } from "./json.ts";

/** An answer that came whole, whatever its status. */
export interface HttpAnswer {
  status: number;
  /** Names in lower case; several values of one name are joined by `, `. */
  headers: Readonly<Record<string, string>>;
  /** Empty where the body was taken piece by piece (`HttpRequest.onBody`). */
  bodyText: string;
  /** In bytes, decoded. */
  bodyLength: number;
  /** Absent when the body is no JSON that is read. */
  json?: unknown;
  /** Why it is none. */
  problem?: string;
  /** When the request was handed to a connection, Unix milliseconds. */
  sentAtMs: number;
  /** When the answer's headers were complete, Unix milliseconds. */
  answeredAtMs: number;
}

/** Whatever the content type says: a body counts as JSON when it parses. */
export function parseJsonBody(bodyText: string): Pick<HttpAnswer, "json" | "problem"> {
  return bodyText.trim() === "" ? {} : parseJson(bodyText);
}

export function flattenHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}
