import type { MetricMeter } from "@temporalio/common";

import type { Transport } from "../http/transport.ts";
import type { Ledger } from "../ledger/index.ts";
import { budgetRules, FleetCount, RateLimiter } from "../quota/index.ts";
import { watchBudgets } from "./watch-budgets.ts";
import type { KeyLog } from "./watch-keys.ts";

export interface RateLimitersOptions {
  transport: Transport;
  counts: Ledger["quota"];
  /** Requests a minute, until headers say how many. */
  fallbackLimit: number;
  /** The first pause of an API that fails every call; later ones grow. */
  failingPauseMs: number;
  log: KeyLog;
  meter: MetricMeter;
}

export interface RateLimiters {
  of: (application: string) => RateLimiter;
  /** After the last call: what it came to is still being counted. */
  close: () => Promise<void>;
}

/** One rate limiter for each application, in front of one transport. */
export function createRateLimiters(applications: readonly string[], options: RateLimitersOptions): RateLimiters {
  const { transport, counts, log, meter } = options;
  const rules = budgetRules(options.fallbackLimit, options.failingPauseMs);
  const budgets = watchBudgets(log, meter);
  const limiters = new Map<string, RateLimiter>();
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
    const limiter = new RateLimiter({
      application,
      transport,
      rules,
      count,
      nowMs: Date.now,
      random: Math.random,
      watch,
    });
    limiters.set(application, limiter);
  }
  const stop = budgets.start([...limiters.values()]);
  return {
    of(application) {
      const limiter = limiters.get(application);
      if (!limiter) throw new Error(`no budget was made for the application ${application}`);
      return limiter;
    },
    async close() {
      stop();
      await Promise.all(fleetCounts.map((count) => count.settled()));
    },
  };
}
