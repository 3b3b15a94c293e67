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
