import type { Logger as TemporalLogger, LogLevel as TemporalLogLevel, LogMetadata } from "@temporalio/common";
import { type DestinationStream, type Level, type Logger, pino } from "pino";

import type { LogLevel } from "../config/index.ts";
import { plainJson, QUERY_REFUSED } from "../contract/index.ts";
import { loggedError, loggedFailure } from "./logged-error.ts";

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
