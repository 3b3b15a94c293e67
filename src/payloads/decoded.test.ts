import { ApplicationFailure, Client, Connection, defaultPayloadConverter } from "@temporalio/client";
import { DefaultFailureConverter } from "@temporalio/common";
import { encodeErrorToFailure } from "@temporalio/common/lib/internal-non-workflow/index.js";
import proto from "@temporalio/proto";
import { expect, test } from "vitest";

import { createPayloadCodec } from "./codec.ts";
import { decoded } from "./decoded.ts";

const codec = createPayloadCodec([`a:${Buffer.alloc(32, 1).toString("base64")}`]);
const payloadCodecs = [codec];
const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
const client = new Client({ connection: Connection.lazy(), dataConverter: { payloadCodecs } });
const { History } = proto.temporal.api.history.v1;

/** As Temporal answers it: read from the bytes that a worker has sent. */
async function historyOf(error: Error) {
  const converter = { payloadConverter: defaultPayloadConverter, failureConverter, payloadCodecs };
  const failure = await encodeErrorToFailure(converter, error);
  const [summary] = await codec.encode([defaultPayloadConverter.toPayload("Issue INV-1")]);
  const events = [{ eventId: 7, userMetadata: { summary }, activityTaskFailedEventAttributes: { failure } }];
  return History.decode(History.encode(History.fromObject({ events })).finish());
}

test("a failure and its cause have their words, and every payload is decoded", async () => {
  const cause = ApplicationFailure.create({ message: "no Njeri", details: [{ name: "Njeri" }] });
  const history = await historyOf(ApplicationFailure.create({ message: "refused Njeri", cause }));
  expect(JSON.stringify(history)).toContain("Encoded failure");
  const [event] = (await decoded(client, history)).events;
  const failure = event?.activityTaskFailedEventAttributes?.failure;
  expect([failure?.message, failure?.cause?.message]).toEqual(["refused Njeri", "no Njeri"]);
  const [details] = failure?.cause?.applicationFailureInfo?.details?.payloads ?? [];
  expect(Buffer.from(details?.data ?? []).toString()).toBe('{"name":"Njeri"}');
  expect(Buffer.from(event?.userMetadata?.summary?.data ?? []).toString()).toBe('"Issue INV-1"');
  expect(String(event?.eventId)).toBe("7");
});

test("an answer stays as it was, and is given on as it is without a codec", async () => {
  const history = await historyOf(new Error("refused"));
  const before = JSON.stringify(history);
  await decoded(client, history);
  expect(JSON.stringify(history)).toBe(before);
  expect(await decoded(new Client({ connection: Connection.lazy() }), history)).toBe(history);
});
