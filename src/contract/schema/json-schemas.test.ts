import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { fileURLToPath } from "node:url";
import { format } from "oxfmt";
import { describe, expect, test } from "vitest";
import type { z } from "zod";

import { type AttentionCode, RESOLVED_BY, updateExamples } from "../attention.ts";
import { complaintOf } from "../../../workflows/operator/updates.ts";
import type { UpdateName } from "../names.ts";
import { UPDATE_FORMS } from "../update-forms.ts";
import { jsonSchemaOf, PUBLISHED_SCHEMAS, updateFormsFile } from "./json-schemas.ts";
import { UPDATE_DECLARATIONS } from "./updates.ts";

const PUBLISHED = Object.entries(PUBLISHED_SCHEMAS);
const RUNS = 10_000;

/** Formats are for people here: the patterns beside them count. */
const ajv = new Ajv2020({ validateFormats: false, strict: false });
const validators = new Map(PUBLISHED.map(([name, schema]) => [name, ajv.compile(jsonSchemaOf(schema))]));

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  maximum?: number;
}

const wrong = fc.constantFrom<unknown>(null, "", 7, -1, true, [], {}, "zzz", ["x"]);
const TEXTS = [
  "-",
  ".",
  "default",
  "0",
  "24 hours",
  "90m",
  "2026-11-23",
  "2026-1-1",
  "a b",
  "120-3fa9c1d2e4b50718",
  "\u{1F9FE}",
  "KES",
  "tab\there",
  " ",
];

/** Values near the schema: mostly of its form, at its bounds, or just beyond them. */
function near(schema: Schema): fc.Arbitrary<unknown> {
  const right = ((): fc.Arbitrary<unknown> => {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.anyOf && schema.type === undefined) return fc.oneof(...schema.anyOf.map(near));
    const types = Array.isArray(schema.type) ? schema.type : [schema.type];
    return fc.oneof(...types.map((type) => nearType(type, schema)));
  })();
  return fc.oneof({ weight: 80, arbitrary: right }, { weight: 1, arbitrary: wrong });
}

function nearType(type: string | undefined, schema: Schema): fc.Arbitrary<unknown> {
  switch (type) {
    case "string": {
      const most = schema.maxLength ?? 20;
      const bounds = [0, 1, most, most + 1].map((length) => "x".repeat(length));
      const fitting = TEXTS.filter((text) => ajv.validate(schema, text));
      return fc.oneof(
        { weight: fitting.length > 0 ? 40 : 0, arbitrary: fc.constantFrom(...fitting) },
        { weight: 1, arbitrary: fc.constantFrom(...TEXTS) },
        { weight: 1, arbitrary: fc.constantFrom(...bounds, "\u{1F9FE}".repeat(most), "\u{1F9FE}".repeat(most + 1)) },
        { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
      );
    }
    case "number":
    case "integer":
      return fc.oneof(fc.integer({ min: -2, max: 100 }), fc.constantFrom(0, 1e12, 1.1e12, 60, 60.5, 0.01));
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(near(schema.items ?? {}), { maxLength: 3 });
    case "object": {
      const { properties = {}, required = [] } = schema;
      const alternatives = (schema.oneOf ?? []).flatMap((one) => one.required ?? []);
      const chosen = fc.oneof(
        { weight: 40, arbitrary: alternatives.length > 0 ? fc.constantFrom(...alternatives) : fc.constant(undefined) },
        { weight: 1, arbitrary: fc.constant(undefined) },
      );
      const keys = Object.entries(properties).map(([key, one]) => {
        const often = required.includes(key) || alternatives.includes(key) ? 60 : 2;
        return fc.option(near(one), { nil: undefined, freq: often }).map((value) => [key, value] as const);
      });
      const unknownKey = fc.oneof(
        { weight: 40, arbitrary: fc.constant([] as const) },
        { weight: 1, arbitrary: fc.constant([["colour", "red"]] as const) },
      );
      return fc.tuple(fc.tuple(...keys), unknownKey, chosen).map(([entries, more, only]) => {
        const left = only === undefined ? [] : alternatives.filter((key) => key !== only);
        // As JSON has it: what is undefined is not there.
        const there = entries.filter(([key, value]) => value !== undefined && !left.includes(key));
        return Object.fromEntries([...there, ...more]);
      });
    }
    default:
      return fc.constantFrom<unknown>("anything", 1, null);
  }
}

/** Where JSON Schema cannot say what zod checks: it accepts, and zod refuses. Listed in docs/clients.md. */
const BEYOND_JSON_SCHEMA = [
  /at most 64 bytes/,
  /a date that exists/,
  /a duration such as/,
  /half of a surrogate pair/,
  // Counts UTF-16 units, and JSON Schema counts code points.
  /expected 1 to 500 characters/,
  /another number than that of the credit note/,
];

test(`${RUNS} inputs near the published schemas are accepted by both, or refused by both, but for what JSON Schema cannot say; an update by its workflow as well`, () => {
  const seen = new Map<string, number>();
  const counted = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  const input = fc.oneof(
    ...PUBLISHED.map(([name, schema]) =>
      fc.tuple(fc.constant(name), fc.constant(schema), near(jsonSchemaOf(schema) as Schema)),
    ),
  );
  fc.assert(
    fc.property(input, ([name, schema, value]) => {
      const parsed = schema.safeParse(value);
      const valid = validators.get(name)?.(value) === true;
      const form = name.startsWith("update.") ? UPDATE_FORMS[name.slice("update.".length) as UpdateName] : undefined;
      // What is within an object is checked by an activity. A field too many is told by the path of its object.
      const depthOf = ({ code, path }: z.core.$ZodIssue) => path.length + (code === "unrecognized_keys" ? 1 : 0);
      const isRefusedForItsFields = parsed.error?.issues.some((issue) => depthOf(issue) < 2) === true;
      const inSandbox = form ? complaintOf(form, value) !== undefined : isRefusedForItsFields;
      expect({ name, value, refused: inSandbox }).toEqual({ name, value, refused: isRefusedForItsFields });
      counted(`${name} ${parsed.success ? "accepted" : "refused"}`);
      if (parsed.success === valid) return;
      const messages = parsed.error?.issues.map(({ message }) => message) ?? [
        "zod accepts what the JSON Schema refuses",
      ];
      expect(messages.filter((message) => !BEYOND_JSON_SCHEMA.some((known) => known.test(message)))).toEqual([]);
    }),
    { numRuns: RUNS },
  );
  for (const [name] of PUBLISHED)
    for (const how of ["accepted", "refused"])
      expect(seen.get(`${name} ${how}`) ?? 0, `${name} ${how}`).toBeGreaterThan(5);
});

describe("the committed JSON Schema", () => {
  test.each(PUBLISHED)("of %s is what its zod schema gives (vitest -u writes it anew)", async (name, schema) => {
    const file = new URL(`../../../packages/client/schema/${name}.json`, import.meta.url).pathname;
    await expect(`${JSON.stringify(jsonSchemaOf(schema), undefined, 2)}\n`).toMatchFileSnapshot(file);
  });
});

test("the committed forms of the updates are what their declarations give (vitest -u writes them anew)", async () => {
  const file = fileURLToPath(new URL("../update-forms.ts", import.meta.url));
  const { code } = await format(file, updateFormsFile(), { printWidth: 320 });
  await expect(code).toMatchFileSnapshot(file);
});

test.each(Object.keys(RESOLVED_BY) as AttentionCode[])("the example JSON for %s is what its updates take", (code) => {
  const attention = { code, subject: "INV-1/item_1/sold", message: "m", sinceMs: 0, resolvedBy: RESOLVED_BY[code] };
  const examples = [...updateExamples(attention), ...updateExamples(attention, "Achieng")];
  expect(examples.map(({ update }) => update)).toEqual(expect.arrayContaining([...RESOLVED_BY[code]]));
  expect(examples.some(({ input }) => input["by"] === "Achieng")).toBe(true);
  for (const { update, input } of examples) {
    expect({ update, problems: UPDATE_DECLARATIONS[update].takes.safeParse(input).error?.issues }).toEqual({
      update,
      problems: undefined,
    });
  }
});
