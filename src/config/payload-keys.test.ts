import { expect, test } from "vitest";

import { ConfigError, loadConfig } from "./index.ts";
import { CALLBACKS, load, problemsOf } from "./test-support/load.ts";

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

test("the codec server needs a token and keys, and origins are those of pages", () => {
  const token = { FISCALFLOW_CODEC_TOKEN: "0123456789abcdef0123456789abcdef" };
  const keys = { FISCALFLOW_PAYLOAD_KEYS: key("2026", 1) };
  const origins = { FISCALFLOW_CODEC_ORIGINS: "https://temporal.example.com/, http://127.0.0.1:8233" };
  const { codec } = load({ ...token, ...keys, ...origins });
  expect(codec?.token.reveal()).toBe(token.FISCALFLOW_CODEC_TOKEN);
  expect(codec).toMatchObject({
    origins: ["https://temporal.example.com", "http://127.0.0.1:8233"],
    host: "127.0.0.1",
    port: 8082,
  });
  expect(load(keys).codec).toBeUndefined();
  const [missing] = problemsOf(keys, undefined, { needs: ["codec"] });
  expect(missing).toMatchObject({ path: "FISCALFLOW_CODEC_TOKEN" });
  // Those who ask the server have the token in the same variable, and not the keys.
  expect(load(token).payloadKeys).toEqual([]);
  expect(problemsOf(token, undefined, { needs: ["codec"] })).toEqual([
    {
      path: "FISCALFLOW_CODEC_TOKEN",
      message: "expected FISCALFLOW_PAYLOAD_KEYS beside it, which the server decrypts by",
    },
  ]);
  const problemOfOrigin = (origin: string) =>
    problemsOf({ ...token, ...keys, FISCALFLOW_CODEC_ORIGINS: origin })[0]?.message;
  expect(problemOfOrigin("https://temporal.example.com/ui")).toBe(
    "entry 1: expected an origin, which has no path; found https://temporal.example.com/ui",
  );
  expect(problemOfOrigin("http://temporal.example.com")).toMatch(/^entry 1: expected https, /);
  const [spaced] = problemsOf({ ...keys, FISCALFLOW_CODEC_TOKEN: "correct horse battery staple correct" });
  expect(spaced?.message).toBe("expected ASCII characters without spaces (not shown)");
});

test("what Kubernetes sets for a service of that name is no port", () => {
  const ofServices = { FISCALFLOW_CODEC_PORT: "tcp://10.0.0.7:8082", CALLBACK_PORT: "tcp://10.0.0.8:8080" };
  const keys = { FISCALFLOW_PAYLOAD_KEYS: key("2026", 1), FISCALFLOW_CODEC_TOKEN: "0123456789abcdef0123456789abcdef" };
  expect(load({ ...ofServices, ...keys, ...CALLBACKS })).toMatchObject({
    codec: { port: 8082 },
    callbacks: { port: 8080 },
  });
});
