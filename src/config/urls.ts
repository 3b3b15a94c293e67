import ipaddr from "ipaddr.js";
import { z } from "zod";

import { showFound } from "./config-error.ts";
import { expected } from "./setting-kinds.ts";

/** With the longest token behind it, within the API's limit (Fiscal Compliance API, "Limits": callbackUrl, 2048). */
const MOST_CHARACTERS = 1_000;
const ABSOLUTE_URL = `an absolute URL of at most ${MOST_CHARACTERS} characters (https://host, perhaps with a port and a path)`;

/** An absolute http or https URL of any host. What stands beside host and path is not quoted: it may be a secret. */
export function plainUrl() {
  const wrong = expected(ABSOLUTE_URL);
  const hidden = `expected ${ABSOLUTE_URL}, found one with a user name, a query or a fragment (not shown)`;
  return z
    .string(wrong)
    .refine((text) => !/[@?#]/.test(text), { error: hidden, abort: true })
    .max(MOST_CHARACTERS, wrong)
    .refine((text) => /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text), { ...wrong, abort: true })
    .transform((text) => new URL(text));
}

/** The base address of one of the services; the value has no slash at its end. */
export function baseUrl() {
  return plainUrl()
    .refine((url) => url.protocol === "https:" || isLoopbackHost(url), {
      error: ({ input }) =>
        `expected https, since keys travel with every request (http is accepted on loopback only), found http to ${(input as URL).hostname}`,
    })
    .transform(addressOf);
}

/** Origin and path, without a slash at the end: two ways to write one address give one text. */
export function addressOf(url: URL): string {
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** Why the API could not deliver callbacks to a URL; undefined where it may. */
export function publicUrlProblem(url: URL, allowLoopback: boolean): string | undefined {
  if (allowLoopback && isLoopbackHost(url)) return undefined;
  const wanted = "expected an absolute https URL of a public host";
  if (isLoopbackHost(url)) {
    return `${wanted}, found the loopback host ${url.hostname}; for the simulator and tests, set CALLBACK_ALLOW_LOOPBACK=1`;
  }
  if (!isPublicHost(url)) return `${wanted}, found ${url.hostname}, which the internet cannot reach`;
  if (url.protocol !== "https:")
    return `${wanted}, found http: the URL is a capability and must not travel in the clear`;
  return undefined;
}

/** What is wrong with a URL of PostgreSQL. It holds a password, so none of it is shown. */
export function postgresProblem(value: string): string | undefined {
  const wanted = "expected a URL postgres://user:password@host:port/database";
  if (!/^postgres(ql)?:\/\//.test(value)) return `${wanted}, found a value with another beginning (not shown)`;
  if (!URL.canParse(value))
    return `${wanted}, found one that is no URL (not shown); escape special characters of the password`;
  return undefined;
}

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
  const url = `http://${ipaddr.IPv6.isValid(host) ? `[${host}]` : host}`;
  return URL.canParse(url) && isLoopbackHost(new URL(url));
}

const NOT_PUBLIC_NAME = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/** @param url whose host the URL parser has brought into its one form (`0x7f.1` is then 127.0.0.1) */
export function isLoopbackHost(url: URL): boolean {
  const host = hostOf(url);
  return rangeOf(host) === "loopback" || /(^|\.)localhost$/.test(host);
}

/** Whether the host may be one on the internet. Nothing is looked up: a name with a private address passes. */
export function isPublicHost(url: URL): boolean {
  const host = hostOf(url);
  const range = rangeOf(host);
  return range === undefined ? host.includes(".") && !NOT_PUBLIC_NAME.test(host) : range === "unicast";
}

/** Of an address; one of IPv4 inside of IPv6 (`::ffff:10.0.0.1`) is in the range of the former. */
function rangeOf(host: string): string | undefined {
  return ipaddr.isValid(host) ? ipaddr.process(host).range() : undefined;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
