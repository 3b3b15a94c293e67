import { plainText } from "../contract/plain-text.ts";

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
  readonly exitCode: number;

  constructor(exitCode = 130) {
    super("Interrupted. What Temporal has accepted goes on.");
    this.exitCode = exitCode;
  }
}

/**
 * Errors by which somebody says that the call or the configuration was wrong. By name, so that nothing is loaded to
 * compare with.
 */
const CALLERS_FAULT = new Set([
  "UsageError",
  "ConfigError",
  "InvalidInputError",
  "UnknownConnectionError",
  "UnknownBusinessError",
  "CallInputError",
]);

interface Described {
  exitCode: 1 | 2;
  /** Empty where there is nothing more to say. */
  message: string;
}

/** An error as one readable message; the stack only where somebody asked for it. */
export function describeError(error: unknown, options: { withStack: boolean }): Described {
  if (!(error instanceof Error)) return { exitCode: 1, message: plainText(String(error)) };
  const exitCode = CALLERS_FAULT.has(error.name) ? 2 : 1;
  const message = plainText(error.name === "CommandFailedError" ? error.message : messageOf(error));
  if (!options.withStack || message === "") return { exitCode, message };
  return { exitCode, message: `${message}\n${plainText(stackOf(error))}` };
}

/** The client's own ServiceError hides its reason in the cause, as gRPC's `details`. */
function messageOf(error: Error): string {
  const details = grpcDetails(error) ?? (error.name === "ServiceError" ? grpcDetails(error.cause) : undefined);
  if (details !== undefined) return `Temporal refuses: ${details}`;
  return error.message === "" ? error.name : error.message;
}

function grpcDetails(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("details" in error) || !("code" in error)) return undefined;
  return typeof error.details === "string" && typeof error.code === "number" ? error.details : undefined;
}

function stackOf(error: Error): string {
  const stack = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause instanceof Error ? `${stack}\nCaused by ${stackOf(error.cause)}` : stack;
}
