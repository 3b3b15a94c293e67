import type { MetricMeter } from "@temporalio/common";

import type { KeyWatch } from "../../activities/compliance/index.ts";

/** As Temporal's own loggers take it. */
export interface KeyLog {
  warn: (message: string, fields: Record<string, unknown>) => void;
  info: (message: string, fields: Record<string, unknown>) => void;
}

/** 1 while a key is refused: to be alerted on. Of each process that serves the connection, as it has seen it. */
const GAUGE = "fiscalflow_key_refused";

/** Codes that can refuse a key (Fiscal Compliance API, "Errors"). */
const KNOWN_CODES: readonly string[] = ["invalid_api_key", "forbidden", "not_found"];

/** A label of a metric has few values, all of them ours: each one is a time series, and a service can send any text. */
function knownCode(apiCode: string | undefined): string {
  if (apiCode === undefined) return "none";
  return KNOWN_CODES.includes(apiCode) ? apiCode : "other";
}

/**
 * One warning, and one alert, for a key that begins to be refused, however many sales wait for it; never the key
 * itself.
 */
export function watchKeys(log: KeyLog, meter: Pick<MetricMeter, "createGauge">): KeyWatch {
  const gauge = meter.createGauge(GAUGE, "int", undefined, "1 while the API refuses a connection's key (401, or 403)");
  return {
    refused(trouble) {
      const { connection, operation, status } = trouble;
      const apiCode = knownCode(trouble.apiCode);
      log.warn("the API refuses the key: what needs it parks as credentials", { ...trouble, apiCode });
      gauge.set(1, { connection, operation, status: String(status), apiCode });
    },
    works(trouble, refusedForMs) {
      const { connection, operation, status } = trouble;
      const apiCode = knownCode(trouble.apiCode);
      log.info("the API accepts the key again", { ...trouble, apiCode, refusedForMs });
      gauge.set(0, { connection, operation, status: String(status), apiCode });
    },
  };
}
