import { isLoopbackHost, isPublicHost } from "./hosts.ts";
import type { About } from "./plain-settings.ts";
import type { Reading, Setting } from "./setting.ts";
import { showFound } from "./show-found.ts";

type UrlRule = (url: URL) => string | undefined;

/** The base address of one of the services; the value has no slash at its end. */
export function baseUrlSetting(rule: UrlRule, about: About<string>): Setting<string> {
  const read = (raw: unknown): Reading<string> => {
    const url = plainUrl(raw);
    if (typeof url === "string") return { ok: false, problems: [url] };
    const problem =
      url.protocol === "http:" && !isLoopbackHost(url)
        ? `expected https, since keys travel with every request (http is accepted on loopback only), found http to ${url.hostname}`
        : rule(url);
    return problem === undefined ? { ok: true, value: addressOf(url) } : { ok: false, problems: [problem] };
  };
  return { ...about, fromJson: read, fromText: read };
}

/** An absolute http or https URL of any host, to be judged with the other settings; see {@link publicUrlProblem}. */
export function plainUrlSetting(about: About<URL>): Setting<URL> {
  const read = (raw: unknown): Reading<URL> => {
    const url = plainUrl(raw);
    return typeof url === "string" ? { ok: false, problems: [url] } : { ok: true, value: url };
  };
  return { ...about, fromJson: read, fromText: read };
}

/** Why the API could not deliver callbacks to a URL; undefined where it may. */
export function publicUrlProblem(url: URL, allowLoopback: boolean): string | undefined {
  if (allowLoopback && isLoopbackHost(url)) return undefined;
  const expected = "expected an absolute https URL of a public host";
  if (isLoopbackHost(url)) {
    return `${expected}, found the loopback host ${url.hostname}; for the simulator and tests, set CALLBACK_ALLOW_LOOPBACK=1`;
  }
  if (!isPublicHost(url)) return `${expected}, found ${url.hostname}, which the internet cannot reach`;
  if (url.protocol !== "https:")
    return `${expected}, found http: the URL is a capability and must not travel in the clear`;
  return undefined;
}

/** Origin and path, without a slash at the end: two ways to write one address give one text. */
export function addressOf(url: URL): string {
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** The URL, or what is wrong with it. What stands behind the host is not quoted: it may be a secret. */
function plainUrl(raw: unknown): URL | string {
  const expected = "expected an absolute URL (https://host, perhaps with a port and a path)";
  if (typeof raw !== "string" || !/^https?:\/\/[^\s\\]+$/i.test(raw) || !URL.canParse(raw)) {
    return `${expected}, found ${showFound(raw)}`;
  }
  const url = new URL(raw);
  if (/^https?:\/\/[^/?#]*@/i.test(raw)) return `${expected}, found one with a user name or password in it`;
  if (raw.includes("?")) return `${expected}, found one with a query`;
  if (raw.includes("#")) return `${expected}, found one with a fragment`;
  return url;
}
