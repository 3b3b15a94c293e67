import { readFileSync } from "node:fs";
import type { Payload } from "@temporalio/client";
import proto from "@temporalio/proto";
import { describe, expect, test } from "vitest";

import { createPayloadCodec, keyIdOf } from "./codec.ts";

interface Vector {
  what: string;
  key: string;
  iv: string;
  payload: { metadata: Record<string, string>; data: string };
  message: string;
  encrypted: { metadata: Record<string, string>; data: string };
}

const FILE = new URL("../../docs/payload-vectors.json", import.meta.url);
const { vectors } = JSON.parse(readFileSync(FILE, "utf8")) as { vectors: Vector[] };
const [first, , other] = vectors as [Vector, Vector, Vector];

function payloadOf({ metadata, data }: Vector["payload"], encoding: "utf8" | "base64" = "utf8"): Payload {
  const bytes = Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text)]);
  return { metadata: Object.fromEntries(bytes) as Record<string, Uint8Array>, data: Buffer.from(data, encoding) };
}

function plain({ metadata, data }: Payload): Vector["payload"] {
  const texts = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]);
  return { metadata: Object.fromEntries(texts) as Record<string, string>, data: Buffer.from(data ?? []).toString() };
}

describe("the published examples", () => {
  test.each(vectors)("$what is decrypted", async ({ key, payload, encrypted }) => {
    const [read] = await createPayloadCodec([key]).decode([payloadOf(encrypted, "base64")]);
    expect(plain(read as Payload)).toEqual(payload);
  });

  test.each(vectors)("$what is encrypted to its layout", async ({ key, payload, message, encrypted }) => {
    const codec = createPayloadCodec([key]);
    const [written] = await codec.encode([payloadOf(payload)]);
    expect(plain(written as Payload).metadata).toEqual(encrypted.metadata);
    expect(written?.data).toHaveLength(12 + Buffer.from(message, "base64").length + 16);
    expect((await codec.decode([written as Payload])).map(plain)).toEqual([payload]);
  });

  test.each(vectors)("$what is this message", ({ payload, message }) => {
    const bytes = proto.temporal.api.common.v1.Payload.encode(payloadOf(payload)).finish();
    expect(Buffer.from(bytes).toString("base64")).toBe(message);
  });
});

test("two encryptions of one payload have nothing in common", async () => {
  const payload = payloadOf(first.payload);
  const [one, two] = await createPayloadCodec([first.key]).encode([payload, payload]);
  expect(Buffer.from(one?.data ?? []).subarray(0, 40)).not.toEqual(Buffer.from(two?.data ?? []).subarray(0, 40));
});

test("the first key encrypts, all decrypt, and a plain payload is read as it is", async () => {
  const codec = createPayloadCodec([other.key, first.key]);
  const [written] = await codec.encode([payloadOf(first.payload)]);
  expect(keyIdOf(written as Payload)).toBe("till-7.b_1");
  const given = [payloadOf(first.encrypted, "base64"), payloadOf(other.encrypted, "base64"), payloadOf(first.payload)];
  expect((await codec.decode(given)).map(plain)).toEqual([first.payload, other.payload, first.payload]);
});

test("an unknown key is named, and a payload that was changed stays as it is", async () => {
  await expect(createPayloadCodec([other.key]).decode([payloadOf(first.encrypted, "base64")])).rejects.toThrow(
    'encrypted by the key "2026"; FISCALFLOW_PAYLOAD_KEYS has "till-7.b_1"',
  );
  const codec = createPayloadCodec([first.key]);
  for (const at of [0, 12, 60, -1]) {
    const changed = payloadOf(first.encrypted, "base64");
    const data = Buffer.from(changed.data ?? []);
    data.writeUInt8(data.readUInt8(at < 0 ? data.length + at : at) ^ 1, at < 0 ? data.length + at : at);
    expect(await codec.decode([{ ...changed, data }])).toEqual([{ ...changed, data }]);
  }
  const short = { ...payloadOf(first.encrypted, "base64"), data: Buffer.alloc(27) };
  expect(await codec.decode([short])).toEqual([short]);
});

test("without a key nothing is encrypted, and what is encrypted is refused", async () => {
  const codec = createPayloadCodec([]);
  const payload = payloadOf(first.payload);
  expect(await codec.decode(await codec.encode([payload]))).toEqual([payload]);
  await expect(codec.decode([payloadOf(first.encrypted, "base64")])).rejects.toThrow(
    "FISCALFLOW_PAYLOAD_KEYS has none",
  );
});

test("a key that is written wrongly is refused, and not shown", () => {
  const secret = Buffer.alloc(31, 7).toString("base64");
  expect(() => createPayloadCodec([`a:${secret}`])).toThrow(/^Payload key 1: expected id:key, .*46 other characters/);
  expect(() => createPayloadCodec([`a:${secret}`])).not.toThrow(secret);
  expect(() => createPayloadCodec([first.key, first.key])).toThrow('Payload key 2: the id "2026" is given twice');
});
