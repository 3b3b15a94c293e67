import { BlockList, isIP } from "node:net";
import { z } from "zod";

import { showFound } from "./config-error.ts";
import { expected } from "./setting-kinds.ts";

const ABSOLUTE_URL = "an absolute URL (https://host, perhaps with a port and a path)";

/**
 * An absolute http or https URL of any host, to be judged with the other settings; see {@link publicUrlProblem}. What
 * stands behind the host is not quoted: it may be a secret.
 */
export function plainUrl() {
  const wrong = expected(ABSOLUTE_URL);
  const hidden = (what: string) => ({ error: `expected ${ABSOLUTE_URL}, found one with ${what}` });
  return z
    .string(wrong)
    .refine((text) => /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text), { ...wrong, abort: true })
    .refine((text) => !/^https?:\/\/[^/?#]*@/i.test(text), { ...hidden("a user name or password in it"), abort: true })
    .refine((text) => !text.includes("?"), { ...hidden("a query"), abort: true })
    .refine((text) => !text.includes("#"), hidden("a fragment"))
    .transform((text) => new URL(text));
}

/** The base address of one of the services; the value has no slash at its end. */
export function baseUrl(rule: (url: URL) => string | undefined = () => undefined) {
  const problemOf = (url: URL): string | undefined =>
    url.protocol === "http:" && !isLoopbackHost(url)
      ? `expected https, since keys travel with every request (http is accepted on loopback only), found http to ${url.hostname}`
      : rule(url);
  return plainUrl()
    .refine((url) => problemOf(url) === undefined, { error: ({ input }) => problemOf(input as URL) })
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
  const url = `http://${isIP(host) === 6 ? `[${host}]` : host}`;
  return URL.canParse(url) && isLoopbackHost(new URL(url));
}

const LOOPBACK = blockList(["127.0.0.0/8"], ["::1/128"]);

/** What an API on the internet cannot reach; and what it must not be sent to. */
const NOT_PUBLIC = blockList(
  [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "224.0.0.0/4",
    "240.0.0.0/4",
  ],
  ["::/128", "::1/128", "fc00::/7", "fe80::/10", "ff00::/8"],
);

const NOT_PUBLIC_NAME = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/** @param url whose host the URL parser has brought into its one form (`0x7f.1` is then 127.0.0.1) */
export function isLoopbackHost(url: URL): boolean {
  const host = hostOf(url);
  return isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : contains(LOOPBACK, host);
}

/** Whether the host may be one on the internet. Nothing is looked up: a name with a private address passes. */
export function isPublicHost(url: URL): boolean {
  const host = hostOf(url);
  if (isIP(host) !== 0) return !contains(NOT_PUBLIC, host);
  return host.includes(".") && !NOT_PUBLIC_NAME.test(host);
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

function contains(list: BlockList, address: string): boolean {
  // An IPv4 address inside an IPv6 one (::ffff:10.0.0.1) is checked against the IPv4 ranges too.
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function blockList(ipv4: readonly string[], ipv6: readonly string[]): BlockList {
  const list = new BlockList();
  for (const [ranges, family] of [
    [ipv4, "ipv4"],
    [ipv6, "ipv6"],
  ] as const) {
    for (const range of ranges) {
      const [network = "", prefix] = range.split("/");
      list.addSubnet(network, Number(prefix), family);
    }
  }
  return list;
}
