import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";

import { RESOLVED_BY, updateExamples } from "../attention.ts";
import type { AttentionCode } from "../names.ts";
import { problemsOf } from "../../../workflows/operator/updates.ts";
import { UPDATE_FORMS, type UpdateName } from "../updates.ts";
import { PUBLISHED_SCHEMAS, ZOD_SCHEMAS } from "../test-support/published.ts";
import { refundRequestSchema } from "./sale.ts";

const PUBLISHED = Object.entries(PUBLISHED_SCHEMAS);
const RUNS = 10_000;

/** Formats are for people here: the patterns beside them count. */
const ajv = new Ajv2020({ validateFormats: false, strict: false });
const validators = new Map(PUBLISHED.map(([name, schema]) => [name, ajv.compile(schema)]));

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

const waitSchema = z.number().min(0).max(60).optional();

/** By zod; undefined for an update, which its form alone describes. */
function parsedByZod(name: string, value: unknown): z.ZodSafeParseResult<unknown> | undefined {
  if (name !== "update.refund") return ZOD_SCHEMAS[name]?.safeParse(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return refundRequestSchema.safeParse(value);
  const { waitSeconds, ...request } = value as { waitSeconds?: unknown };
  const wait = waitSchema.safeParse(waitSeconds);
  return wait.success ? refundRequestSchema.safeParse(request) : wait;
}

test(`${RUNS} inputs near the published schemas are accepted by both, or refused by both, but for what JSON Schema cannot say; an update by its workflow as well`, () => {
  const seen = new Map<string, number>();
  const counted = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  const input = fc.oneof(...PUBLISHED.map(([name, schema]) => fc.tuple(fc.constant(name), near(schema))));
  fc.assert(
    fc.property(input, ([name, value]) => {
      const parsed = parsedByZod(name, value);
      const valid = validators.get(name)?.(value) === true;
      const update = name.startsWith("update.") ? (name.slice("update.".length) as UpdateName) : undefined;
      const problems = update ? problemsOf(UPDATE_FORMS[update], value) : [];
      // What is within an object is checked by an activity. A field too many is told by the path of its object.
      const depthOf = ({ code, path }: z.core.$ZodIssue) => path.length + (code === "unrecognized_keys" ? 1 : 0);
      const isRefusedForItsFields = parsed?.error?.issues.some((issue) => depthOf(issue) < 2) === true;
      const isRefused = problems.length > 0;
      expect({ value, isRefused }).toEqual({ value, isRefused: update && parsed ? isRefusedForItsFields : isRefused });
      const accepted = parsed?.success ?? problems.length === 0;
      counted(`${name} ${accepted ? "accepted" : "refused"}`);
      if (accepted === valid) return;
      const messages = parsed?.error?.issues.map(({ message }) => message) ?? [
        `the JSON Schema ${valid ? "accepts" : "refuses"} it: ${JSON.stringify({ name, value, problems })}`,
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
  test.each(PUBLISHED)("of %s is what its declaration gives (vitest -u writes it anew)", async (name, schema) => {
    const file = new URL(`../../../packages/client/schema/${name}.json`, import.meta.url).pathname;
    await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(file);
  });
});

test.each(Object.keys(RESOLVED_BY) as AttentionCode[])("the example JSON for %s is what its updates take", (code) => {
  const attention = { code, subject: "INV-1/item_1/sold", message: "m", sinceMs: 0, resolvedBy: RESOLVED_BY[code] };
  const examples = [...updateExamples(attention), ...updateExamples(attention, "Achieng")];
  expect(examples.map(({ update }) => update)).toEqual(expect.arrayContaining([...RESOLVED_BY[code]]));
  expect(examples.some(({ input }) => input["by"] === "Achieng")).toBe(true);
  for (const { update, input } of examples) {
    expect({ update, problems: problemsOf(UPDATE_FORMS[update], input) }).toEqual({ update, problems: [] });
  }
});
