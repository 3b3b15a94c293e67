import { expect, test } from "vitest";

import { NoAnswerError, NoWorkerError, queryOf, SaleNotFoundError } from "../starter/errors.ts";
import { TemporalError, temporalErrorOf } from "./require-temporal.ts";

const temporal = { namespace: "default", connectionOptions: {}, addressGiven: false };
const grpc = (code: number, details = "the time is up") =>
  Object.assign(new Error(`${code}`), { code, details, metadata: { getMap: () => ({}) } });

test.each([
  NoAnswerError.to(queryOf("sale/a"), grpc(4)),
  new NoWorkerError(queryOf("sale/a"), grpc(4)),
  new SaleNotFoundError("sale/a"),
])("$name, which says that Temporal answers but no worker does, is passed on unchanged", (error) => {
  expect(temporalErrorOf(error, temporal)).toBe(error);
});

test("a timeout without any answer of Temporal means that Temporal cannot be reached", () => {
  expect(temporalErrorOf(grpc(4), temporal)).toBeInstanceOf(TemporalError);
});

test("a failure that gives no reason is told as such, and not by empty brackets", () => {
  expect(temporalErrorOf(grpc(14, ""), temporal)).toMatchObject({
    message: expect.stringContaining("cannot be reached (no answer in time)"),
  });
});
