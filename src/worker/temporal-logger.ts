import type { Logger as TemporalLogger, LogLevel, LogMetadata } from "@temporalio/common";
import type { Level, Logger } from "pino";

import { QUERY_REFUSED } from "../contract/index.ts";

const LEVELS: Readonly<Record<LogLevel, Level>> = {
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
  const write = (level: LogLevel, message: string, meta: LogMetadata = {}): void => {
    const { error, ...fields }: Record<string, unknown> = meta;
    log[isExpected(message, meta) ? "debug" : LEVELS[level]](
      error === undefined ? fields : { ...fields, err: error },
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
