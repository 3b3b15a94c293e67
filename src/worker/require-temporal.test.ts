import { expect, test } from "vitest";

import { NoAnswerError, NoWorkerError, SaleNotFoundError } from "../starter/errors.ts";
import { TemporalError, temporalErrorOf } from "./require-temporal.ts";

const temporal = { namespace: "default", connectionOptions: {}, addressGiven: false };
const grpc = (code: number) =>
  Object.assign(new Error(`${code}`), { code, details: "the time is up", metadata: { getMap: () => ({}) } });

test.each([
  new NoAnswerError("sale/a", grpc(4)),
  new NoWorkerError("sale/a", grpc(4)),
  new SaleNotFoundError("sale/a"),
])("that Temporal is there, and no worker: $name stays as it is", (error) => {
  expect(temporalErrorOf(error, temporal)).toBe(error);
});

test("that the time is up, with nothing that Temporal has answered, is that Temporal cannot be reached", () => {
  expect(temporalErrorOf(grpc(4), temporal)).toBeInstanceOf(TemporalError);
});
