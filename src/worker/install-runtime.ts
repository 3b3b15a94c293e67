import { IllegalStateError } from "@temporalio/common";
import { Runtime } from "@temporalio/worker";
import { createServer, isIPv6 } from "node:net";
import type { Logger } from "pino";

import { temporalLogger } from "./create-logger.ts";
import { type ListenAddress, listenError } from "./health.ts";

export interface RuntimeSettings {
  log: Logger;
  /** Where Temporal's exporter answers `GET /metrics`; absent: not served. */
  metrics?: ListenAddress | undefined;
  /** Boundaries of histograms, by name; default: Temporal's own, which are for milliseconds. */
  buckets?: Record<string, number[]>;
}

/**
 * Temporal's runtime of this process, once: its log in ours, its metrics for Prometheus, and no signal handlers of its
 * own, since a worker must finish its calls before it ends (facts, "Shutdown").
 */
export async function installRuntime({ log, metrics, buckets = {} }: RuntimeSettings): Promise<Runtime> {
  if (metrics !== undefined) await requireFreePort(metrics);
  const core = log.isLevelEnabled("debug") ? "INFO" : "WARN";
  try {
    return Runtime.install({
      logger: temporalLogger(log),
      shutdownSignals: [],
      telemetryOptions: {
        logging: { filter: { core, other: "ERROR" }, forward: {} },
        ...(metrics !== undefined && {
          metrics: {
            prometheus: {
              bindAddress: socketAddress(metrics),
              countersTotalSuffix: true,
              unitSuffix: true,
              histogramBucketOverrides: buckets,
            },
          },
        }),
      },
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
    log.warn("Temporal's runtime is installed in this process already; its log and metrics stay as they are");
    return Runtime.instance();
  }
}

/** Temporal's exporter would fail in the background, where nobody hears of it. */
async function requireFreePort(address: ListenAddress): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", (error) => reject(listenError("METRICS", address, error)));
    probe.listen(address.port, address.host, () => probe.close(() => resolve()));
  });
}

function socketAddress({ host, port }: ListenAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
