import { BlockList, isIP } from "node:net";
import { invalidRequest } from "./api-error.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const notPublic = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["224.0.0.0", 3],
] as const)
  notPublic.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const)
  notPublic.addSubnet(network, prefix, "ipv6");

const maxLength = 2048;

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

function isOnLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  const family = isIP(host);
  return family !== 0 && loopback.check(host, family === 4 ? "ipv4" : "ipv6");
}

function isPublic(host: string): boolean {
  const family = isIP(host);
  if (family !== 0) return !notPublic.check(host, family === 4 ? "ipv4" : "ipv6");
  return host.includes(".") && !/\.(localhost|local|internal|test|invalid)$/.test(host);
}

/** Refuses what is not "Absolute https URL on a public host, no credentials in it; maximum 2048 characters". */
export function requireCallbackUrl(field: string, text: string, allowLoopback: boolean): string {
  if (text.length > maxLength) throw invalidRequest(field, `must have at most ${maxLength} characters`);
  if (!URL.canParse(text)) throw invalidRequest(field, "must be an absolute URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") throw invalidRequest(field, "must not contain credentials");
  const host = hostOf(url);
  if (allowLoopback && isOnLoopback(host) && (url.protocol === "http:" || url.protocol === "https:")) return text;
  if (url.protocol !== "https:") throw invalidRequest(field, "must be an https URL");
  if (!isPublic(host)) throw invalidRequest(field, "must be on a public host");
  return text;
}
