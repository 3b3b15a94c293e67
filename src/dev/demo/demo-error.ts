import { InterruptedError } from "../../cli/cli-error.ts";

/** The demo cannot go on; the message says why and what to do. */
export class DemoError extends Error {
  override readonly name = "DemoError";
  readonly code = "DEMO_FAILED";
}

/** Ctrl-C or SIGTERM ended the demo, and everything that it started. */
export class DemoInterruptedError extends InterruptedError {
  override readonly message = "Interrupted: everything that the demo started is ended.";
}
