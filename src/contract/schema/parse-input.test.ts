import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { z } from "zod";

import { InvalidInputError, parseInput } from "./parse-input.ts";
import { saleInputSchema, saleStartSchema } from "./sale.ts";
import { problemsOf } from "./test-support/problems.ts";

/** Values in the shape of a sale, with anything in the places of its fields. */
const almostASale = fc.record(
  {
    traderInvoiceNumber: fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue()),
    connection: fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue()),
    saleDate: fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue()),
    customer: fc.oneof(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), fc.jsonValue()),
    lines: fc.array(fc.oneof(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), fc.jsonValue())),
    refundWindow: fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue()),
    "\u001B[2J": fc.jsonValue(),
  },
  { requiredKeys: [] },
);

function errorOf(input: unknown): InvalidInputError {
  try {
    parseInput(saleInputSchema, input, "sale input");
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
  throw new Error("the input was expected to be refused");
}

describe("input that is refused", () => {
  test("is reported with a line for each problem, and the code of the failure", () => {
    const error = errorOf({ traderInvoiceNumber: "", lines: [] });
    expect(error.code).toBe("InvalidInput");
    expect(error.message).toBe(
      "The sale input is not valid:\n" +
        "  traderInvoiceNumber: expected at least 1 character, found an empty text\n" +
        "  lines: expected at least one line, found a list of 0",
    );
  });

  test.each([
    [null, "null"],
    ["INV-1", '"INV-1"'],
    [[], "a list of 0"],
    [true, "true"],
  ])("may be no object at all: %j", (input, found) => {
    expect(problemsOf(saleInputSchema, input)).toEqual([`input: expected an object, found ${found}`]);
  });

  test("is quoted in part where it is long", () => {
    const [problem = ""] = problemsOf(saleInputSchema, {
      traderInvoiceNumber: "INV-1",
      saleId: "s",
      saleDate: "9".repeat(9_999),
    });
    expect(problem).toMatch(/, found "9+…$/);
    expect(problem.length).toBeLessThan(130);
  });

  test.each([
    ["fields", Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`${i}${"x".repeat(200)}`, 1]))],
    ["lines", { traderInvoiceNumber: "INV-1", lines: Array.from({ length: 1_000 }, () => ({})) }],
  ])("is reported in a text of bounded length, however many %s are wrong", (_what, input) => {
    const { problems, message } = errorOf(input);
    expect(problems.at(-1)).toMatch(/^and \d+ more$/);
    expect(message.length).toBeLessThan(20_000);
  });

  test("never brings a control character or half of a surrogate pair into the message", () => {
    fc.assert(
      fc.property(almostASale, (input) => {
        for (const problem of problemsOf(saleInputSchema, input))
          expect(problem).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029]/u);
      }),
      { examples: [[{ connection: "\u001B[31m\u0085\u2028\uD83E" }], [{ lines: [{ "a\u0007b\nc": 1 }] }]] },
    );
  });
});

describe.each<[string, z.ZodType]>([
  ["a sale", saleInputSchema],
  ["the workflow of a sale", saleStartSchema],
])("any JSON value as the input of %s", (_what, schema) => {
  test("parses, or is refused with at least one problem, and quickly", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), almostASale), (input) => {
        const before = process.cpuUsage();
        let refused: unknown;
        try {
          parseInput(schema, input, "input");
        } catch (error) {
          refused = error;
        }
        // Of the processor: others have it too.
        expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
        if (refused === undefined) return;
        expect(refused).toBeInstanceOf(InvalidInputError);
        expect(refused).toMatchObject({ problems: expect.arrayContaining([expect.stringMatching(/./)]) });
      }),
      { numRuns: 300 },
    );
  });
});
