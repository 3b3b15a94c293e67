import { expect, test } from "vitest";

import { ConfigError, loadConfig } from "./index.ts";

const key = (id: string, byte: number): string => `${id}:${Buffer.alloc(32, byte).toString("base64")}`;
const keysOf = (value: string) => loadConfig({ env: { FISCALFLOW_PAYLOAD_KEYS: value } }).payloadKeys;

function problemOf(value: string): string {
  try {
    keysOf(value);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
  }
  throw new Error("expected a ConfigError");
}

test("payload keys come from the variable, in their order, and are not shown", () => {
  const keys = keysOf(`${key("2026", 1)}, ${key("2025", 2)}`);
  expect(keys.map((one) => one.reveal())).toEqual([key("2026", 1), key("2025", 2)]);
  expect(JSON.stringify(keys)).not.toContain(key("2026", 1));
  expect(keysOf("")).toEqual([]);
});

test("a payload key of another form is refused, and so is an id that two of them have", () => {
  const short = `2026:${Buffer.alloc(16, 1).toString("base64")}`;
  expect(problemOf(short)).toMatch(/FISCALFLOW_PAYLOAD_KEYS: entry 1: expected id:key, .* found 29 other characters/);
  expect(problemOf(short)).not.toContain(short);
  expect(problemOf(`${key("a", 1)},${key("a", 2)}`)).toContain(
    'expected an id of its own for each key, found "a" twice',
  );
});
