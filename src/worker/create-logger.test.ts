import { ApplicationFailure } from "@temporalio/common";
import { describe, expect, test } from "vitest";

import { InvalidInputError } from "../contract/schema/parse-input.ts";
import { LedgerUnavailableError } from "../ledger/index.ts";
import { createLogger, temporalLogger } from "./create-logger.ts";

/** What no line may hold: name, PIN, telephone and address of a customer. */
const CUSTOMER = ["Wambui", "P051234567Z", "+254712345678", "wambui@example.com"];
const QUOTED = `customer: ${CUSTOMER.join(", ")}`;

interface Line {
  message?: string;
  err?: { type: string; message: string; stack: string; trouble?: string; cause?: { type: string } };
  failure?: string;
}

/** As the SDK logs a failure of an activity or a workflow. */
function logged(message: string, meta: Record<string, unknown>): { text: string; line: Line } {
  let text = "";
  temporalLogger(createLogger("trace", { write: (line) => (text += line) }, "fiscalflow-worker")).warn(message, meta);
  return { text, line: JSON.parse(text) as Line };
}

function parserError(): unknown {
  try {
    JSON.parse(CUSTOMER.join(" "));
  } catch (error) {
    return error;
  }
  return undefined;
}

const TROUBLE = { kind: "away", sinceMs: 0 } as const;

describe("a line of the log", () => {
  test.each([
    ["an API's message that quotes the request", ApplicationFailure.create({ type: "Transient", message: QUOTED })],
    ["a refused input", ApplicationFailure.nonRetryable(new InvalidInputError("sale input", [QUOTED]).message)],
    ["a text that is no JSON", parserError()],
    ["a defect that has a cause", new Error("defect", { cause: new Error(QUOTED) })],
    ["a defect with fields", Object.assign(new Error(QUOTED), { detail: QUOTED, parameters: CUSTOMER })],
    ["a message of several lines, like a stack", new Error(`no\n    at ${CUSTOMER.join("\n    at ")}`)],
    ["something thrown that is no error", QUOTED],
  ])("holds nothing of a customer out of %s", (_, error) => {
    const { text } = logged("Activity failed", { error, activityType: "createSale" });
    for (const value of CUSTOMER) expect(text).not.toContain(value);
    expect(text).toContain("Activity failed");
    expect(text).toContain("createSale");
  });

  test("says of a failure what type it has, where it was thrown, and what is wrong with the API", () => {
    const details = [{ trouble: TROUBLE, said: QUOTED }];
    const { line } = logged("Activity failed", {
      error: ApplicationFailure.create({ type: "Transient", message: QUOTED, details }),
    });
    expect(line.err).toMatchObject({
      type: "Transient",
      message: expect.stringContaining("Temporal"),
      trouble: "The API has been away since 1970-01-01 03:00 EAT",
      stack: expect.stringMatching(/^\s+at .*create-logger\.test/m),
    });
  });

  test("says why the ledger is away, since that speaks of this installation alone", () => {
    const { line } = logged("Activity failed", { error: new LedgerUnavailableError("Nothing listens on port 5432.") });
    expect(line.err).toMatchObject({ type: "LedgerUnavailableError", message: "Nothing listens on port 5432." });
  });

  test("keeps of what Temporal's Core says of a failure why a history cannot be replayed, and nothing else", () => {
    const failure = (message: string): string => `Failure { failure: Some(Failure { message: "${message}" }) }`;
    const core = "Failing workflow task";
    expect(logged(core, { failure: failure(QUOTED) }).text).not.toContain("Wambui");
    const why = "[TMPRL1100] Nondeterminism error: Activity type does not match";
    expect(logged(core, { failure: failure(why) }).line.failure).toBe(why);
  });
});
