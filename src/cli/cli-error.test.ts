import { expect, test } from "vitest";

import { ConfigError } from "../config/index.ts";
import { InvalidInputError } from "../contract/schema/parse-input.ts";
import { NotAllowedError, SaleConflictError } from "../starter/errors.ts";
import { TemporalError } from "../worker/require-temporal.ts";
import { CommandFailedError, describeError, UsageError } from "./context.ts";

const grpc = Object.assign(new Error("7 PERMISSION_DENIED: not yours"), { code: 7, details: "not yours" });

test.each([
  [new UsageError("u"), 2, "u"],
  [new ConfigError([{ path: "P", message: "m" }]), 2, expect.stringContaining("P: m")],
  [new InvalidInputError("sale input", ["x: y"]), 2, expect.stringContaining("x: y")],
  [new NotAllowedError("n"), 1, "n"],
  [SaleConflictError.ofOtherContent("I"), 1, expect.stringContaining("Compared are")],
  [new CommandFailedError(""), 1, ""],
  [new TemporalError("no-namespace", "make it", { cause: grpc }), 1, "make it"],
  [Object.assign(new Error("Failed", { cause: grpc }), { name: "ServiceError" }), 1, "Temporal refuses: not yours"],
  [grpc, 1, "Temporal refuses: not yours"],
  [new RangeError(""), 1, "RangeError"],
  ["a text", 1, "a text"],
])("%s", (error, exitCode, message) => {
  expect(describeError(error)).toEqual({ exitCode, message });
});

test("control characters are removed from an error message; line breaks stay", () => {
  expect(describeError(new Error("a\u001b[31m\nb\u202e")).message).toBe("a\uFFFD[31m\nb\uFFFD");
});
