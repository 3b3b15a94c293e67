import { createHmac } from "node:crypto";

export interface ToSign {
  /** In upper case. */
  method: string;
  url: URL;
  /** The exact body as it is transmitted; the empty string where there is none. */
  body: string;
  timestampMs: number;
  /** Whether the query string belongs to the path: not shown, so the dialect says (`signature.query`). */
  withQuery: boolean;
}

/**
 * Accounting Service, "Authentication", 4: method, path, exact body and timestamp, with nothing between them. The path
 * is that of the request line, with whatever prefix the base address has, escaped as it is sent.
 */
export function messageToSign({ method, url, body, timestampMs, withQuery }: ToSign): string {
  const path = withQuery ? `${url.pathname}${url.search}` : url.pathname;
  return `${method.toUpperCase()}${path}${body}${timestampMs}`;
}

/** "Authentication", 3: HMAC-SHA256 under the client secret, hex-encoded, and the timestamp in Unix milliseconds. */
export function signatureHeaders(toSign: ToSign, clientSecret: string): Record<string, string> {
  const hmac = createHmac("sha256", clientSecret).update(messageToSign(toSign), "utf8").digest("hex");
  return { "x-signature": hmac, "x-timestamp": String(toSign.timestampMs) };
}
