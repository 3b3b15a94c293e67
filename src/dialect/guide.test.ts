import { expect, test } from "vitest";
import { z } from "zod";

import { ACCOUNTING_GUIDE } from "../accounting/dialect-guide.ts";
import { accountingDialectSchema } from "../accounting/dialect.ts";
import { COMPLIANCE_GUIDE } from "../compliance/dialect-guide.ts";
import { dialectSchema } from "../compliance/dialect.ts";
import { guidedSettings } from "./guide.ts";
import { dialectOf, settingsOf, valueAt } from "./settings.ts";

const schema = z
  .strictObject({
    a: z
      .strictObject({ name: z.string().nullable().default("x"), by: z.enum(["id", "code"]).default("id") })
      .prefault({}),
    operation: z.strictObject({ method: z.string(), path: z.string() }).nullable().default(null),
    flag: z.boolean().default(false),
  })
  .prefault({});

test("the settings of a schema are its leaves, with their defaults and allowed values", () => {
  expect(settingsOf(schema)).toEqual([
    { path: "a.name", fallback: "x", values: "a name, `null`" },
    { path: "a.by", fallback: "id", values: "`id`, `code`" },
    { path: "operation", fallback: null, values: "`{ method, path }`, `null`" },
    { path: "flag", fallback: false, values: "`true`, `false`" },
  ]);
});

test("a dialect made of paths has their values at these paths", () => {
  const dialect = dialectOf([
    ["a.name", "y"],
    ["operation", null],
  ]);
  expect(dialect).toEqual({ a: { name: "y" }, operation: null });
  expect(valueAt(dialect, "a.name")).toBe("y");
  expect(valueAt(dialect, "b.name")).toBeUndefined();
});

test("a guide with a missing or an unknown setting is refused with its path", () => {
  const gone = { section: "", meaning: "", whileWrong: "", shows: "", foundBy: "ask", question: "" } as const;
  expect(() => guidedSettings(schema, { gone })).toThrow(
    "a.name is not in the guide; a.by is not in the guide; operation is not in the guide; flag is not in the guide; gone is in the guide alone",
  );
});

test.each([
  ["compliance", dialectSchema, COMPLIANCE_GUIDE],
  ["accounting", accountingDialectSchema, ACCOUNTING_GUIDE],
])(
  "the %s guide describes every setting of the schema, each with a question for the provider",
  (_service, all, guide) => {
    const incomplete = guidedSettings(all, guide).filter(
      ({ section, meaning, whileWrong, shows, question }) =>
        [section, meaning, whileWrong, shows].includes("") || !question.endsWith("?"),
    );
    expect(incomplete.map(({ path }) => path)).toEqual([]);
  },
);
