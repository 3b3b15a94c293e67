import { expect, test } from "vitest";
import { z } from "zod";

import { compareDialect, type Findings } from "./compare.ts";
import { guidedSettings } from "./guide.ts";

const about = { section: "s", meaning: "m", whileWrong: "w", shows: "s", foundBy: "read", question: "Which?" } as const;
const schema = z
  .strictObject({
    list: z
      .strictObject({ size: z.string().nullable().default("size"), cursor: z.string().default("cursor") })
      .prefault({}),
    key: z.enum(["sent", "trusted"]).default("trusted"),
    extra: z.string().nullable().default(null),
  })
  .prefault({});
const settings = guidedSettings(schema, {
  "list.size": about,
  "list.cursor": about,
  key: { ...about, fallback: "depends" },
  extra: { ...about, optional: true },
});

function compare(configured: unknown, findings: [string, unknown][]) {
  const found: Findings = new Map(
    findings.map(([path, value]) => [
      path,
      value === "WRONG" ? { kind: "wrong", evidence: "refused" } : { kind: "found", value, evidence: "seen" },
    ]),
  );
  const { fits, settings: compared, questions, dialect } = compareDialect(settings, schema.parse(configured), found);
  const verdicts = Object.fromEntries(compared.map(({ path, verdict }) => [path, verdict]));
  return { fits, verdicts, asked: questions.map(({ path }) => path), dialect };
}

test("a dialect that matches the findings fits, and nothing is to be configured", () => {
  expect(compare({}, [["list.size", "size"]])).toEqual({
    fits: true,
    verdicts: { "list.size": "fits", "list.cursor": "open", key: "open", extra: "open" },
    asked: ["list.cursor", "key", "extra"],
    dialect: {},
  });
});

test("a name that differs or does not work does not fit; the found one is printed", () => {
  const compared = compare({}, [
    ["list.size", "limit"],
    ["list.cursor", "WRONG"],
  ]);
  expect(compared).toMatchObject({ fits: false, verdicts: { "list.size": "differs", "list.cursor": "wrong" } });
  expect(compared.asked).toContain("list.cursor");
  expect(compared.dialect).toEqual({ list: { size: "limit" } });
});

test("a configured name that was not probed is printed as it is", () => {
  expect(compare({ list: { cursor: "after" } }, []).dialect).toEqual({ list: { cursor: "after" } });
});

test("an operation that is switched off stays off, and fits", () => {
  const compared = compare({ list: { size: null } }, [["list.size", "limit"]]);
  expect(compared).toMatchObject({ fits: true, verdicts: { "list.size": "off" }, dialect: { list: { size: null } } });
});

test("a finding about a setting whose default is not the same everywhere is printed", () => {
  expect(compare({}, [["key", "trusted"]])).toMatchObject({ fits: true, dialect: { key: "trusted" } });
});
