/**
 * The ledger cannot be reached, or cannot answer now: nothing can be said about what it holds, and a write may or may
 * not have been kept. The message tells what was tried and what to do.
 */
export class LedgerUnavailableError extends Error {
  override readonly name = "LedgerUnavailableError";
  readonly code = "unavailable";
}

/** A defect or a misuse; never to be retried. */
export class LedgerError extends Error {
  override readonly name = "LedgerError";
  readonly code = "defect";
}

/** A newer version has brought the tables to a form that this one cannot work on. */
export class NewerTablesError extends LedgerError {}

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
/** Somebody else has made the same row at the same moment: another look finds it. */
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

/** Node's codes of a chain that ends at no known certificate authority. */
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** What to do about a server whose certificate is not accepted, or that has none; undefined for other trouble. */
export function tlsTodo(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code !== undefined && UNKNOWN_AUTHORITY.has(code))
    return "the server's certificate is of an unknown authority: name the file with the authority's certificate in LEDGER_URL (&sslrootcert=<path>)";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return "the server's certificate is for another name: write the name of the certificate as the host of LEDGER_URL, or give the server a certificate for that host";
  if (code === "CERT_HAS_EXPIRED") return "renew the server's certificate";
  // The driver reads them itself, each time that it connects.
  if (syscall === "open" && (code === "ENOENT" || code === "EACCES"))
    return "correct the path in LEDGER_URL (sslrootcert, sslcert, sslkey)";
  if (error.message === "The server does not support SSL connections")
    return "switch on TLS at the server (ssl = on), or take sslmode=verify-full out of LEDGER_URL";
  return undefined;
}
