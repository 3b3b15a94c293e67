import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import { parseJson } from "./json.ts";
import { type ReadList, rowsOf } from "./read-body.ts";

const listed = rowsOf({
  path: ["data", "items"],
  body: z.looseObject({ data: z.looseObject({ items: z.array(z.unknown()) }), next: z.string().optional() }),
  row: z.looseObject({ id: z.string().min(1), lines: z.array(z.looseObject({ quantity: z.number() })) }),
  names: ["id", "sku"],
  data: ({ next }, rows) => ({ ids: rows.map(({ id }) => id), next }),
});

/** @param sizes of the pieces in which the text comes, again and again */
function read(text: string, sizes: readonly number[] = [text.length], list: ReadList<unknown> = listed) {
  const reading = list.begin();
  const bytes = Buffer.from(text);
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const size = sizes[piece % sizes.length] ?? 1;
    reading.take(bytes.subarray(at, at + size));
    at += size;
  }
  return reading.end();
}

test("a row that does not fit the schema is left out, and reported by its names and its first wrong field", () => {
  const secret = "P051234567X";
  const odd = { id: "b", sku: "B-1", pin: secret, lines: [{ quantity: 1 }, { quantity: secret }] };
  const items = [{ id: "a", lines: [] }, odd, null, { id: 7, lines: [] }, { id: "c", lines: [] }];
  const result = read(JSON.stringify({ data: { items } }));
  expect(result).toEqual({
    data: { ids: ["a", "c"], next: undefined },
    odd: [
      {
        names: { id: "b", sku: "B-1" },
        field: "lines[].quantity",
        problem: expect.stringContaining("expected number") as string,
      },
      { names: {}, field: "", problem: expect.stringContaining("expected object") as string },
      { names: {}, field: "id", problem: expect.stringContaining("expected string") as string },
    ],
  });
  expect(JSON.stringify(result)).not.toContain(secret);
});

test("rows are found in whatever pieces the text comes, and whatever is in and around them", () => {
  const anyValue = fc.jsonValue({ maxDepth: 4 });
  // The schema's library leaves this one out, for everybody's safety.
  const name = fc.string().filter((text) => text !== "__proto__");
  const around = fc.dictionary(fc.oneof(name, fc.constantFrom("items", "x")), anyValue);
  fc.assert(
    fc.property(
      fc.array(anyValue),
      around,
      fc.dictionary(name, anyValue),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      fc.constantFrom(undefined, 1, "\t"),
      (items, beside, outside, sizes, spaces) => {
        const body = { ...outside, data: { ...beside, items }, last: { items: [1] } };
        const rows = rowsOf({
          path: ["data", "items"],
          body: z.looseObject({ data: z.looseObject({}) }),
          row: z.unknown(),
          names: [],
          data: (envelope, found) => ({ ...envelope, data: { ...envelope.data, items: found } }),
        });
        const text = JSON.stringify(body, undefined, spaces);
        const whole = parseJson(text);
        expect(read(text, sizes, rows)).toEqual("json" in whole ? { data: whole.json, odd: [] } : undefined);
      },
    ),
  );
});

test("a body that is a list itself is one too", () => {
  const ids = rowsOf({ path: [], body: z.array(z.unknown()), row: z.string(), names: [], data: (_body, rows) => rows });
  const reading = ids.begin();
  reading.take(Buffer.from(' [ "a" , "b]," ] '));
  expect(reading.end()).toEqual({ data: ["a", "b],"], odd: [] });
});

describe("a body is refused", () => {
  const row = '{"id":"a","lines":[]}';
  test.each([
    ["without the list", '{"data":{}}', "data.items"],
    ["with something else in its place", '{"data":{"items":{}}}', "data.items"],
    ["with the list at another place", `{"items":[${row}]}`, "data"],
    ["with a list in place of the object around it", `{"o":{"items":1},"data":[[${row}]]}`, "data"],
    ["with the list under an escaped name", `{"data":{"\\u0069tems":[${row}]}}`, "names its list in another way"],
    ["with the list twice", `{"data":{"items":[${row}],"items":[]}}`, "the list is there twice"],
    ["with the object around the list twice", `{"data":{"items":[${row}]},"data":{"items":[]}}`, "twice"],
    ["that is not JSON", "<html>", "the body is not JSON"],
    ["that is empty", "", "the body is not JSON"],
    ["that breaks off in a row", `{"data":{"items":[${row},{"id"`, "the body is not JSON"],
    ["that breaks off behind the list", `{"data":{"items":[${row}]`, "the body is not JSON"],
    ["with a row that is not JSON", `{"data":{"items":[${row},{id:1}]}}`, "the body is not JSON"],
    ["with two commas", `{"data":{"items":[${row},,${row}]}}`, "the body is not JSON"],
    ["with a comma behind the last row", `{"data":{"items":[${row},]}}`, "the body is not JSON"],
    ["without a comma between rows", `{"data":{"items":[${row}${row}]}}`, "the body is not JSON"],
  ])("%s", (_what, text, says) => {
    const result = read(text, [3]);
    expect(result).toHaveProperty("issues");
    expect(JSON.stringify(result)).toContain(says);
  });
});
