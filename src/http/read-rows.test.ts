import { expect, test } from "vitest";
import { z } from "zod";

import { rowsOf } from "./read-body.ts";

const read = rowsOf({
  body: z.looseObject({ data: z.array(z.unknown()) }),
  rows: ({ data }) => data,
  row: z.looseObject({ id: z.string().min(1), lines: z.array(z.looseObject({ quantity: z.number() })) }),
  names: ["id", "sku"],
  data: (_body, rows) => rows.map(({ id }) => id),
});
const answer = (json: unknown) => read({ json, bodyText: "", bodyLength: 0, headers: {} });

test("a row that does not fit the schema is left out, and reported by its names and its first wrong field", () => {
  const secret = "P051234567X";
  const odd = { id: "b", sku: "B-1", pin: secret, lines: [{ quantity: 1 }, { quantity: secret }] };
  const result = answer({ data: [{ id: "a", lines: [] }, odd, null, { id: 7, lines: [] }, { id: "c", lines: [] }] });
  expect(result).toEqual({
    data: ["a", "c"],
    odd: [
      {
        names: { id: "b", sku: "B-1" },
        field: "lines[].quantity",
        problem: expect.stringContaining("expected number"),
      },
      { names: {}, field: "", problem: expect.stringContaining("expected object") },
      { names: {}, field: "id", problem: expect.stringContaining("expected string") },
    ],
  });
  expect(JSON.stringify(result)).not.toContain(secret);
});

test("a body without the list is refused", () => {
  expect(answer({ data: {} })).toHaveProperty("issues");
  expect(answer(undefined)).toEqual({ issues: ["the body is not JSON"] });
});
