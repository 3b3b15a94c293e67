import { format, inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { Secret } from "./secrets.ts";

describe("a secret", () => {
  const secret = new Secret("cmp_sk_live_abc");

  it("is shown as [secret] in every way that a value gets into a text", () => {
    expect([String(secret), `${secret.toString()}`, secret.toString()]).toEqual(["[secret]", "[secret]", "[secret]"]);
    expect(JSON.stringify({ secret })).toBe('{"secret":"[secret]"}');
    for (const text of [
      inspect(secret, { showHidden: true, depth: 9 }),
      format("%o %O %s %j", secret, secret, secret, secret),
    ]) {
      expect(text).toContain("[secret]");
      expect(text).not.toContain("abc");
    }
    expect(Object.keys(secret)).toEqual([]);
  });

  it("gives its value only when asked to", () => {
    expect(secret.reveal()).toBe("cmp_sk_live_abc");
  });
});
