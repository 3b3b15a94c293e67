import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLoopbackHost, isPublicHost } from "./setting-kinds.ts";

const at = (host: string) => new URL(`https://${host}/`);

describe("a public host", () => {
  it.each([
    "example.com",
    "callbacks.example.co.ke",
    "8.8.8.8",
    "172.15.255.255",
    "172.32.0.1",
    "100.63.255.255",
    "100.128.0.1",
    "192.167.1.1",
    "[2606:4700::1111]",
    "local.example.com",
    "xn--bcher-kva.example",
  ])("may be %s", (host) => {
    expect(isPublicHost(at(host))).toBe(true);
  });

  it.each([
    "localhost",
    "localhost.",
    "LOCALHOST",
    "a.localhost",
    "receiver",
    "printer.local",
    "printer.local.",
    "receiver.internal",
    "nas.home.arpa",
    "127.0.0.1",
    "127.9.9.9",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.127.255.255",
    "224.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[fc00::1]",
    "[fdff::1]",
    "[fe80::1]",
    "[febf::1]",
    "[ff02::1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:c0a8:101]",
  ])("is never %s", (host) => {
    expect(isPublicHost(at(host))).toBe(false);
  });

  it("is never an address of a private range, however it is written", () => {
    const octet = fc.nat(255);
    const second = fc.integer({ min: 16, max: 31 });
    const address = fc.oneof(
      fc.tuple(fc.constant(10), octet, octet, octet),
      fc.tuple(fc.constant(172), second, octet, octet),
      fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
      fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    );
    fc.assert(
      fc.property(address, ([a, b, c, d]) => {
        const number = ((a * 256 + b) * 256 + c) * 256 + d;
        for (const host of [
          `${a}.${b}.${c}.${d}`,
          String(number),
          `0x${number.toString(16)}`,
          `[::ffff:${a}.${b}.${c}.${d}]`,
        ]) {
          expect(isPublicHost(at(host))).toBe(false);
        }
      }),
    );
  });
});

describe("a loopback host", () => {
  it.each(["localhost", "api.localhost", "127.0.0.1", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]"])("is %s", (host) => {
    expect(isLoopbackHost(at(host))).toBe(true);
  });

  it.each(["example.com", "localhost.example.com", "10.0.0.1", "notlocalhost", "[::2]"])("is not %s", (host) => {
    expect(isLoopbackHost(at(host))).toBe(false);
  });
});
