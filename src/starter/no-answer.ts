import { FiscalflowError } from "../contract/errors.ts";
import { MAIN_TASK_QUEUE } from "../contract/names.ts";
import { waitedFor } from "./bound.ts";
import { GRPC, grpcErrorsOf, grpcInWords, grpcName } from "./grpc.ts";

/** A call that waits for a worker, in the words of the error if none answers. */
export interface Asked {
  what: string;
  /** What may have happened all the same, and what the caller does about it. */
  advice: string;
}

export function queryOf(workflowId: string): Asked {
  return {
    what: `the query for the state of ${workflowId}`,
    advice: "A query changes nothing; what was started before goes on as soon as a worker runs. Ask again.",
  };
}

export function waitFor(workflowId: string): Asked {
  return {
    what: `the wait for the outcome of ${workflowId}`,
    advice:
      "The wait changes nothing; what was started before goes on as soon as a worker runs. Ask again for the same.",
  };
}

export function startOf(workflowId: string): Asked {
  return {
    what: `the start of ${workflowId}`,
    advice:
      "The sale may have been started, and then goes on as soon as a worker runs. Start the same sale again under the same number, which is safe: it stays one sale.",
  };
}

export function refundOf(workflowId: string): Asked {
  return {
    what: `the update refund of ${workflowId}`,
    advice:
      "The refund may have been accepted, or may still be. Ask for the same refund again under the same number, which is safe: it stays one credit note.",
  };
}

/** @param update by which an operator answers */
export function answerTo(workflowId: string, update: string): Asked {
  return {
    what: `the update ${update} of ${workflowId}`,
    advice: "The answer may have been accepted, or may still be. Send the same answer again, which is safe.",
  };
}

export function questionToLedger(about: string): Asked {
  return { what: `the question to the ledger ${about}`, advice: "The question changes nothing. Ask again." };
}

/** Nobody answered in time. The message says what may have been started, and how to ask again. */
export class NoAnswerError extends FiscalflowError {
  override readonly name: string = "NoAnswerError";
  override readonly code: "NoAnswer" | "NoWorker" = "NoAnswer";

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }

  static to({ what, advice }: Asked, cause: unknown): NoAnswerError {
    const { seconds } = waitedFor() ?? {};
    const when = seconds === undefined ? "in time" : `within ${seconds} s`;
    const todo = "Check that `fiscalflow worker` runs on this namespace.";
    return new NoAnswerError(`No worker answered ${what} ${when}${because(cause)}. ${advice} ${todo}`, cause);
  }
}

/** Temporal says that no worker serves the task queue. */
export class NoWorkerError extends NoAnswerError {
  override readonly name = "NoWorkerError";
  override readonly code = "NoWorker";

  constructor({ what, advice }: Asked, cause: unknown) {
    const todo = "Start `fiscalflow worker` on this namespace.";
    const nobody = `No worker serves the task queue ${MAIN_TASK_QUEUE}, so nobody answers ${what}`;
    super(`${nobody}${because(cause)}. ${advice} ${todo}`, cause);
  }
}

function because(cause: unknown): string {
  const [grpcError] = grpcErrorsOf(cause);
  // Its details tell of the last try alone, which may have had no time left.
  if (grpcError?.code === GRPC.DEADLINE_EXCEEDED) return ` (${grpcName(grpcError)})`;
  if (grpcError) return ` (${grpcInWords(grpcError)})`;
  return cause instanceof Error ? ` (${cause.message})` : "";
}
