import { createServer } from "node:net";
import { IllegalStateError } from "@temporalio/common";
import { Runtime } from "@temporalio/worker";
import type { Logger } from "pino";

import { temporalLogger } from "./temporal-logger.ts";

export interface RuntimeSettings {
  log: Logger;
  /** Where Temporal's exporter answers `GET /metrics`; absent: not served. */
  metricsPort?: number | undefined;
}

/**
 * Temporal's runtime of this process, once: its log in ours, its metrics for Prometheus, and no signal handlers of its own, since a
 * worker must finish its calls before it ends (facts, "Shutdown").
 */
export async function installRuntime({ log, metricsPort }: RuntimeSettings): Promise<void> {
  if (metricsPort !== undefined) await requireFreePort(metricsPort);
  const core = log.isLevelEnabled("debug") ? "INFO" : "WARN";
  try {
    Runtime.install({
      logger: temporalLogger(log),
      shutdownSignals: [],
      telemetryOptions: {
        logging: { filter: { core, other: "ERROR" }, forward: {} },
        ...(metricsPort !== undefined && {
          metrics: {
            prometheus: { bindAddress: `0.0.0.0:${metricsPort}`, countersTotalSuffix: true, unitSuffix: true },
          },
        }),
      },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
    log.warn("Temporal's runtime is installed in this process already; its log and metrics stay as they are");
  }
}

/** Temporal's exporter would fail in the background, where nobody hears of it. */
async function requireFreePort(port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code ?? error.message;
      reject(new Error(`METRICS_PORT ${port} cannot be used (${reason}). Choose another port.`, { cause: error }));
    });
    probe.listen(port, "0.0.0.0", () => probe.close(() => resolve()));
  });
}
