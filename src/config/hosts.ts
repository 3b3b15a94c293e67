import { BlockList, isIP } from "node:net";

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
