import fc from "fast-check";
import { expect, test } from "vitest";
import { excerpt, redact, redactDeep } from "./service-call.ts";

test("keys and whatever follows a URL's host are redacted", () => {
  expect(redact("bad key cmp_sk_live_abc.def, sorry")).not.toContain("abc");
  expect(redact("callbackUrl must be https: http://shop.example/callbacks/TOKEN?x=TOKEN")).toBe(
    "callbackUrl must be https: http://shop.example/…",
  );
  expect(redact('{"url":"https:\\/\\/shop.example\\/callbacks\\/TOKEN","a":1}')).toBe(
    '{"url":"https://shop.example/…","a":1}',
  );
  expect(redact("https://user:TOKEN@shop.example/x")).toBe("https://shop.example/…");
});

test("no token is left in a redacted value, wherever it stands", () => {
  const token = fc.stringMatching(/^[A-Za-z0-9._~-]{12,40}$/);
  fc.assert(
    fc.property(token, fc.string(), (made, around) => {
      const value = { [`${around}x`]: [{ message: `${around} https://h.example/callbacks/${made} ${around}` }] };
      fc.pre(!around.includes(made));
      expect(JSON.stringify(redactDeep(value))).not.toContain(made);
    }),
  );
});

test("an excerpt has at most 500 characters", () => {
  expect(excerpt("x".repeat(501))).toHaveLength(500);
  expect(excerpt("short")).toBe("short");
});
