import type { MetricMeter } from "@temporalio/common";

import type { Transport } from "../http/transport.ts";
import type { Ledger } from "../ledger/index.ts";
import { budgetRules, FleetCount, RateLimiter } from "../quota/index.ts";
import { watchBudgets } from "./watch-budgets.ts";
import type { KeyLog } from "./watch-keys.ts";

export interface GatesOptions {
  transport: Transport;
  counts: Ledger["quota"];
  /** Requests a minute, until headers say how many. */
  fallbackLimit: number;
  /** The first pause of an API that fails every call; later ones grow. */
  failingPauseMs: number;
  log: KeyLog;
  meter: MetricMeter;
}

export interface Gates {
  of: (application: string) => RateLimiter;
  /** After the last call: what it came to is still being counted. */
  close: () => Promise<void>;
}

/** One gate for each application, in front of one transport. */
export function createGates(applications: readonly string[], options: GatesOptions): Gates {
  const { transport, counts, log, meter } = options;
  const rules = budgetRules(options.fallbackLimit, options.failingPauseMs);
  const budgets = watchBudgets(log, meter);
  const gates = new Map<string, RateLimiter>();
  const fleetCounts: FleetCount[] = [];
  for (const application of applications) {
    const count = new FleetCount({
      application,
      counts,
      nowMs: Date.now,
      onAway: (reason) =>
        log.warn("the fleet's count of calls is away: this process goes by the headers alone", { application, reason }),
      onBack: (awayForMs) => log.info("the fleet's count of calls is back", { application, awayForMs }),
    });
    fleetCounts.push(count);
    const watch = budgets.watchOf(application);
    const gate = new RateLimiter({ application, transport, rules, count, nowMs: Date.now, random: Math.random, watch });
    gates.set(application, gate);
  }
  const stop = budgets.start([...gates.values()]);
  return {
    of(application) {
      const gate = gates.get(application);
      if (!gate) throw new Error(`no budget was made for the application ${application}`);
      return gate;
    },
    async close() {
      stop();
      await Promise.all(fleetCounts.map((count) => count.settled()));
    },
  };
}
