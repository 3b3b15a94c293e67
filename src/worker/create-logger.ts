import { type DestinationStream, type Logger, pino } from "pino";

import type { LogLevel } from "../config/index.ts";

/** Where log lines go: one JSON object each. */
export function createLogger(level: LogLevel, stream: { write(text: string): unknown }, name: string): Logger {
  const destination: DestinationStream = { write: (line) => void stream.write(line) };
  const options = {
    name,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, destination);
}
