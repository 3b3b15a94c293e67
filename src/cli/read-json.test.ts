import fc from "fast-check";
import { expect, test } from "vitest";

import { UsageError } from "./context.ts";
import { parseJson } from "./read-json.ts";

test("parseJson reads every JSON document as JSON.parse does", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      expect(parseJson(text, "it")).toEqual(JSON.parse(text));
    }),
  );
});

test.each([
  ['{"a": {"b": 1, "b": 1}}', "line 1, column 16: this key stands twice in its object"],
  ["[1", "line 1, column 3: close bracket expected"],
])("parseJson refuses %s with the place and the reason", (text, message) => {
  expect(() => parseJson(text, "sales.json")).toThrow(new UsageError(`sales.json is not JSON: ${message}.`));
});
