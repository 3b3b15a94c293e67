import { isIP } from "node:net";

import { isLoopbackHost } from "./hosts.ts";
import { showFound } from "./show-found.ts";

const VERIFIED = "verify-full";

/**
 * Why the password and the records must not travel to this PostgreSQL; undefined where they may. The rule is that of the
 * services' base URLs: plain text on loopback only. Host and TLS are read from the URL as the driver reads them.
 * @param url accepted as a URL of PostgreSQL
 */
export function plaintextProblem(url: string): string | undefined {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.getAll("host").at(-1) || hostname.replace(/^(%2f.*)+$/i, decodeURIComponent);
  const mode = searchParams.getAll("sslmode").at(-1);
  if (mode === VERIFIED || isLocal(host)) return undefined;
  const found = mode === undefined ? "none" : showFound(mode);
  // The driver would ask the environment for a host (PGHOST).
  const where = host === "" ? "in a URL that names no host" : `for the host ${host}`;
  return `expected sslmode=${VERIFIED} in the URL, since the password and all records travel to that server (without it, only loopback and a unix socket are accepted); found ${found} ${where}. LEDGER_ALLOW_PLAINTEXT=1 accepts it, for a network that you trust`;
}

function isLocal(host: string): boolean {
  if (host.startsWith("/")) return true;
  const url = `http://${isIP(host) === 6 ? `[${host}]` : host}`;
  return URL.canParse(url) && isLoopbackHost(new URL(url));
}
