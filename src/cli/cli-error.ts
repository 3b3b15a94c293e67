/** The call was wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "USAGE";
}

/** The work failed: exit code 1. An empty message: the result says it already. */
export class CommandFailedError extends Error {
  override readonly name = "CommandFailedError";
  readonly code = "COMMAND_FAILED";
}

/** Ctrl-C or SIGTERM came while something else was waited for. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  readonly code = "INTERRUPTED";

  constructor() {
    super("Interrupted. What Temporal has accepted goes on.");
  }
}
