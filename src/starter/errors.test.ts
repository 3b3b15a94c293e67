import { ApplicationFailure } from "@temporalio/common";
import { expect, test } from "vitest";

import { workflowError } from "./errors.ts";

test("an update that a workflow does not have is not allowed, and the error says so", () => {
  // What Temporal's SDK says, word for word (its release 1.24).
  const failure = ApplicationFailure.nonRetryable("No registered handler for update: resolveBatch");
  expect(workflowError(failure)).toMatchObject({
    code: "NotAllowed",
    allowed: [],
    message: expect.stringContaining("This workflow has no update resolveBatch, at any stage. Nothing was changed."),
  });
});
