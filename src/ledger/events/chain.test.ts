import fc from "fast-check";
import { expect, it } from "vitest";

import { LedgerError } from "../errors.ts";
import { canonicalJson } from "./chain.ts";

it("canonical JSON writes a value in one way, in whatever order its keys are", () => {
  expect(canonicalJson({ b: 1, a: { d: [{ z: 1, y: 2 }], c: null }, e: undefined })).toBe(
    '{"a":{"c":null,"d":[{"y":2,"z":1}]},"b":1}',
  );
});

it("canonical JSON reads back as the value, and is written the same again", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    }),
  );
});

it("canonical JSON refuses what JSON cannot hold", () => {
  expect(() => canonicalJson(undefined)).toThrow(LedgerError);
});
