import { ApplicationFailure } from "@temporalio/workflow";

/** What went wrong at the bottom, in words. */
export function rootMessage(error: Error): string {
  return error.cause instanceof Error ? rootMessage(error.cause) : error.message;
}

/**
 * Anything else is a defect: it fails the workflow task, which is repeated once the code is fixed, and loses nothing.
 */
export function isFinal(error: Error): boolean {
  return error.name === "ApplicationFailure" || error.name === "ActivityFailure";
}

export function asFailure(error: Error): ApplicationFailure {
  const cause = error.cause instanceof ApplicationFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) return ApplicationFailure.nonRetryable(cause.message, cause.type);
  return ApplicationFailure.nonRetryable(rootMessage(error));
}
