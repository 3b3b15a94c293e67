import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { idempotencyKey, saleWorkflowId } from "./ids.ts";
import { stockReferenceId } from "./stock-movement.ts";

/**
 * More than the schemas let in: whatever a caller, a catalogue or a foreign start can hold, halves of surrogate pairs
 * included.
 */
const RUNS = { numRuns: 10_000 };

const unit = fc.oneof(
  fc.constantFrom("/", "+", " ", ":", ".", "~", "%", "%2F", "%uD800", "-", "a", "b", "\0", "\n", "\u{1F9FE}", "é"),
  fc.constantFrom("\uD800", "\uDBFF", "\uDC00", "\uDFFF", "e\u0301"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);
const shortText = fc.string({ unit, maxLength: 12 });
const longText = fc.tuple(fc.integer({ min: 0, max: 400 }), shortText).map(([length, end]) => "x".repeat(length) + end);
const text = fc.oneof(shortText, longText);
/** "-" stands for no business in ids, and the schemas refuse it as one. */
const business = fc.oneof(
  fc.constant(undefined),
  text.filter((one) => one !== "-"),
);
const intent = fc.integer({ min: 1, max: 3 });
const purpose = fc.constantFrom("sold" as const, "undone" as const, "restocked" as const);

/** As the document of the API writes it (POST /v1/credit-notes), and not as the code does. */
const VALID_KEY = /^[A-Za-z0-9._:-]{8,128}$/;

type Movement = Parameters<typeof stockReferenceId>;
type Asked = [business: string | undefined, invoice: string, step: string, intent: number];

function keyOf([businessId, traderInvoiceNumber, step, which]: Asked): string {
  return idempotencyKey(saleWorkflowId({ connection: "default", businessId, traderInvoiceNumber }), step, which);
}

/** Texts that look alike when they are joined: one text, cut in two places. */
const cutTwice = fc
  .tuple(fc.array(unit, { minLength: 3, maxLength: 12 }), fc.nat(), fc.nat())
  .map(([units, first, second]) => {
    const [a = 0, b = 0] = [1 + (first % (units.length - 1)), 1 + (second % (units.length - 1))].sort((x, y) => x - y);
    return [units.slice(0, a).join(""), units.slice(a, b).join(""), units.slice(b).join("")] as const;
  })
  .filter(([first]) => first !== "-");

describe("for any business, invoice number and step", () => {
  const asked = fc.tuple(business, text, text, intent);

  test("the idempotency key is valid and stable", () => {
    fc.assert(
      fc.property(asked, (parts) => {
        expect(keyOf(parts)).toMatch(VALID_KEY);
        expect(keyOf([...parts])).toBe(keyOf(parts));
      }),
      RUNS,
    );
  }, 60_000);

  test("two keys are equal only for the same intent, even if their parts, joined, give the same text", () => {
    const cut = fc.tuple(cutTwice, intent).map(([[a, b, c], which]): Asked => [a, b, c, which]);
    const either = fc.oneof(cut, asked);
    fc.assert(
      fc.property(either, either, (one, other) => {
        expect(keyOf(one) === keyOf(other)).toBe(one.every((part, index) => part === other[index]));
      }),
      RUNS,
    );
  }, 60_000);

  test("two ways to cut one text into business, number and step are two keys", () => {
    const cuts = fc.array(unit, { minLength: 4, maxLength: 10 }).chain((units) => {
      const place = fc.tuple(fc.nat(units.length), fc.nat(units.length)).map((pair) => pair.sort((x, y) => x - y));
      const cut = place.map(([a, b]): Asked => [
        `b${units.slice(0, a).join("")}`,
        units.slice(a, b).join(""),
        units.slice(b).join(""),
        1,
      ]);
      return fc.tuple(cut, cut);
    });
    fc.assert(
      fc.property(cuts, ([one, other]) => {
        expect(keyOf(one) === keyOf(other)).toBe(one.every((part, index) => part === other[index]));
      }),
      RUNS,
    );
  }, 60_000);

  test("a workflow id is ASCII, bounded, and one sale's alone", () => {
    fc.assert(
      fc.property(fc.tuple(business, text), fc.tuple(business, text), (one, other) => {
        const [a, b] = [one, other].map(([businessId, traderInvoiceNumber]) =>
          saleWorkflowId({ connection: "default", businessId, traderInvoiceNumber }),
        );
        expect(a).toMatch(/^[!-~]{1,200}$/);
        expect(a === b).toBe(one[0] === other[0] && one[1] === other[1]);
      }),
      RUNS,
    );
  }, 60_000);

  test("the reference of a stock movement is ASCII, bounded, and unique to the movement", () => {
    const cut = cutTwice.map(([a, b, c]): Movement => [a, b + c, "sold"]);
    const movement: fc.Arbitrary<Movement> = fc.oneof(fc.tuple(text, text, purpose), cut);
    fc.assert(
      fc.property(movement, movement, (one, other) => {
        expect(stockReferenceId(...one)).toMatch(/^[!-~]{1,100}$/);
        expect(stockReferenceId(...one) === stockReferenceId(...other)).toBe(
          one.every((part, index) => part === other[index]),
        );
      }),
      RUNS,
    );
  }, 60_000);
});

test.each([
  [
    ["a+b", "c"],
    ["a", "b+c"],
  ],
  [
    ["a/b", "c"],
    ["a", "b/c"],
  ],
  [
    ["a%2Fb", "c"],
    ["a/b", "c"],
  ],
  [
    ["a", "\uD800"],
    ["a", "%uD800"],
  ],
  [
    ["a", "\uD83D\uDE00"],
    ["a", "\uDE00\uD83D"],
  ],
  [
    ["a", "é"],
    ["a", "e\u0301"],
  ],
])("%j and %j are two sales", ([a = "", b = ""], [c = "", d = ""]) => {
  expect(keyOf([a, b, "sale", 1])).not.toBe(keyOf([c, d, "sale", 1]));
  expect(stockReferenceId(a, b, "sold")).not.toBe(stockReferenceId(c, d, "sold"));
});
