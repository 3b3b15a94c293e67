import { LedgerError, LedgerUnavailableError } from "./errors.ts";
import { tlsTodo } from "./tls-trouble.ts";

/**
 * What a failed operation means.
 *
 * - `again`: the connection or the server went away, or the transaction was in the way of another; it may be tried at
 *   once
 * - `unavailable`: nothing to be had by trying now: a wrong password, a certificate that is not accepted, a
 *   full disk
 * - `defect`: ours, or the caller's
 */
export type Verdict = "again" | "unavailable" | "defect";

/**
 * Classes of PostgreSQL's error codes (its appendix A) that speak about what was asked, not about how the server is.
 */
const DEFECTS = /^(0A|0L|2[0-7]|2B|2D|2F|34|38|39|3B|3D|3F|42|44|HV|P0)/;
/** Somebody else has made the same row at the same moment: whoever looks again finds it. */
const MADE_AT_ONCE: readonly unknown[] = ["documents_pkey", "one_live_credit_note"];
/** An account without rights and a database that is missing are corrected by an operator, not by us. */
const CONFIGURATION = /^(28|3D000|42501|25006|53100)/;

export function judgeError(error: unknown): Verdict {
  if (error instanceof LedgerError) return "defect";
  if (error instanceof LedgerUnavailableError) return "unavailable";
  if (!(error instanceof Error)) return "defect";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (/^[0-9A-Z]{5}$/.test(code) && "severity" in error) {
    if (CONFIGURATION.test(code)) return "unavailable";
    if (code === "23505" && "constraint" in error && MADE_AT_ONCE.includes(error.constraint)) return "again";
    return DEFECTS.test(code) ? "defect" : "again";
  }
  if (tlsTodo(error) !== undefined) return "unavailable";
  // Not from the server, so from the socket or the pool; but our own mistakes are no news about the server.
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError ? "defect" : "again";
}
