import { ServiceError, WorkflowUpdateFailedError } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { expect, test } from "vitest";

import { answerTo, NoAnswerError, NoWorkerError, queryOf, refundOf } from "./errors.ts";

const grpc = (code: number, details: string): ServiceError =>
  new ServiceError("Failed", { cause: Object.assign(new Error(details), { code, details, metadata: {} }) });

test.each<[string, NoAnswerError, string]>([
  [
    "a query past its deadline",
    NoAnswerError.to(queryOf("sale/a"), grpc(4, "Deadline exceeded after 0.004s")),
    "No worker answered the query for the state of sale/a in time (gRPC 4 DEADLINE_EXCEEDED). A query changes nothing; what was started before goes on as soon as a worker runs. Ask again. Check that `fiscalflow worker` runs on this namespace.",
  ],
  [
    "a refund that the server lost",
    NoAnswerError.to(refundOf("sale/a"), grpc(14, "Connection dropped")),
    "No worker answered the update refund of sale/a in time (gRPC 14 UNAVAILABLE: Connection dropped). The refund may have been accepted, or may still be. Ask for the same refund again under the same number, which is safe: it stays one credit note. Check that `fiscalflow worker` runs on this namespace.",
  ],
  [
    "an answer that its workflow task left out",
    NoAnswerError.to(
      answerTo("resolveStock of sale/a"),
      new WorkflowUpdateFailedError("Workflow Update failed", ApplicationFailure.nonRetryable("left out")),
    ),
    "No worker answered the update resolveStock of sale/a in time (Workflow Update failed). The answer may have been accepted, or may still be. Send the same answer again, which is safe. Check that `fiscalflow worker` runs on this namespace.",
  ],
  [
    "a query whose queue nobody serves",
    new NoWorkerError(queryOf("sale/a"), grpc(9, "no poller seen for task queue recently")),
    "No worker serves the task queue fiscalflow, so nobody answers the query for the state of sale/a (gRPC 9 FAILED_PRECONDITION: no poller seen for task queue recently). A query changes nothing; what was started before goes on as soon as a worker runs. Ask again. Start `fiscalflow worker` on this namespace.",
  ],
])("the error of %s says what was asked, why nobody answered, and how to ask again", (_what, error, message) => {
  expect(error.message).toBe(message);
});
