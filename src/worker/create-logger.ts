import {
  ApplicationFailure,
  type Logger as TemporalLogger,
  type LogLevel as TemporalLogLevel,
  type LogMetadata,
} from "@temporalio/common";
import { type DestinationStream, type Level, type Logger, pino } from "pino";

import type { LogLevel } from "../config/index.ts";
import { plainJson, QUERY_REFUSED, type ServiceTrouble, troubleInWords } from "../contract/index.ts";

/** Where log lines go: one JSON object each, without a customer and without what a terminal would obey. */
export function createLogger(level: LogLevel, stream: { write(text: string): unknown }, name: string): Logger {
  const destination: DestinationStream = { write: (line) => void stream.write(plainJson(line)) };
  const options = {
    name,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: loggedError },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, destination);
}

const LEVELS: Readonly<Record<TemporalLogLevel, Level>> = {
  TRACE: "trace",
  DEBUG: "debug",
  INFO: "info",
  WARN: "warn",
  ERROR: "error",
};

/** The workers of the API queues serve activities alone, by design, and nobody serves Nexus. */
const EXPECTED = /^No (Nexus services|workflows) registered/;
/** What Core logs of each query that the query guard refuses; a metric counts them. */
const REFUSED = { message: "Failing legacy query request", failure: QUERY_REFUSED };

/** What Temporal's SDK has to say, in the log of the process. */
export function temporalLogger(log: Logger): TemporalLogger {
  const write = (level: TemporalLogLevel, message: string, meta: LogMetadata = {}): void => {
    const { error, failure, ...fields }: Record<string, unknown> = meta;
    log[isExpected(message, meta) ? "debug" : LEVELS[level]](
      {
        ...fields,
        ...(failure !== undefined && { failure: loggedFailure(failure) }),
        ...(error !== undefined && { err: error }),
      },
      message,
    );
  };
  return {
    log: write,
    trace: (message, meta) => write("TRACE", message, meta),
    debug: (message, meta) => write("DEBUG", message, meta),
    info: (message, meta) => write("INFO", message, meta),
    warn: (message, meta) => write("WARN", message, meta),
    error: (message, meta) => write("ERROR", message, meta),
  };
}

function isExpected(message: string, { failure }: LogMetadata): boolean {
  if (EXPECTED.test(message)) return true;
  return message === REFUSED.message && String(failure).includes(REFUSED.failure);
}

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
  "TemporalError",
  "TransportError",
  "UnexpectedError",
]);

/** An error as a line of the log has it: its type, where it was thrown, and its message where that quotes nobody. */
function loggedError(error: unknown): object {
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
function loggedFailure(failure: unknown): string {
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
