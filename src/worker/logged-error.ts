import { ApplicationFailure } from "@temporalio/common";

import { QUERY_REFUSED, type ServiceTrouble, troubleInWords } from "../contract/index.ts";

/**
 * The log is kept, searched and passed on by people who need not know any customer, and a message of the API, of the
 * input's check or of a JSON parser may quote one. Temporal keeps the message where the operators of a sale look.
 */
const LEFT_OUT = "left out, since it may quote a customer: see the workflow's history in Temporal";

/** Errors whose messages speak of this installation alone, by their names or by the types of their failures. */
const QUOTES_NOBODY: ReadonlySet<unknown> = new Set([
  "CancelledFailure",
  "ConfigError",
  "DeterminismViolationError",
  "GracefulShutdownPeriodExpiredError",
  "IllegalStateError",
  "LedgerAway",
  "LedgerUnavailableError",
  "NotServed",
  "ServiceError",
  "ShutdownError",
  "TransportError",
  "UnexpectedError",
]);

/** An error as a line of the log has it: its type, where it was thrown, and its message where that quotes nobody. */
export function loggedError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error, message: LEFT_OUT };
  const { name, message, stack = "", cause } = error;
  const type = "type" in error && typeof error.type === "string" ? error.type : name;
  const trouble = troubleIn(error);
  return {
    type,
    ...("code" in error && { code: String(error.code).slice(0, 60) }),
    message: messageOf(type, message),
    ...(trouble && { trouble: troubleInWords(trouble) }),
    stack: framesOf(stack, message),
    ...(cause !== undefined && { cause: loggedError(cause) }),
  };
}

/** Why something failed, for a field of the log: as {@link loggedError} has it. */
export function loggedReason(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const message = messageOf(error.name, error.message);
  return message === LEFT_OUT ? error.name : message;
}

/** What Temporal's Core logs of a failure is its debugging text, with every message. */
export function loggedFailure(failure: unknown): string {
  const [known] = /(\[TMPRL\d+\] )?Nondeterminism error[^"\n]*/.exec(String(failure)) ?? [];
  return known ?? (String(failure).includes(QUERY_REFUSED) ? QUERY_REFUSED : LEFT_OUT);
}

function messageOf(type: string, message: string): string {
  return QUOTES_NOBODY.has(type) ? message : LEFT_OUT;
}

/** The head of a stack is the message, which may look like frames of its own. */
function framesOf(stack: string, message: string): string {
  const frames = message === "" ? stack : (stack.split(message).at(-1) ?? "");
  return frames
    .split("\n")
    .filter((line) => /^\s+at \S/.test(line))
    .join("\n");
}

/** What a failed activity says of the service. */
function troubleIn(error: unknown): ServiceTrouble | undefined {
  const said: unknown = error instanceof ApplicationFailure ? error.details?.[0] : undefined;
  if (typeof said !== "object" || said === null || !("trouble" in said)) return undefined;
  return said.trouble as ServiceTrouble | undefined;
}
