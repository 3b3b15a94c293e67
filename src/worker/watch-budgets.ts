import type { MetricMeter } from "@temporalio/common";

import { type CallClass, type RateLimiter, type RateLimiterWatch, reserveFor } from "../quota/index.ts";
import type { KeyLog } from "./watch-keys.ts";

const CLASSES: readonly CallClass[] = ["interactive", "background"];
const GAUGES_EACH_MS = 5_000;
const LINE_EACH_MS = 60_000;

type Counts = Record<"sent" | "refused" | "heldBack", Record<CallClass, number>>;

export interface BudgetsWatch {
  watchOf: (application: string) => RateLimiterWatch;
  /** Gauges every few seconds, and a line a minute for each application that had anything to do. @returns ends that */
  start: (limiters: readonly RateLimiter[]) => () => void;
}

/** What is to be seen of the request budgets: metrics, and one line a minute for each application. */
export function watchBudgets(log: KeyLog, meter: MetricMeter): BudgetsWatch {
  const counters = {
    sent: meter.createCounter("fiscalflow_budget_calls", undefined, "calls sent to the API"),
    refused: meter.createCounter("fiscalflow_budget_refused", undefined, "calls answered with 429"),
    heldBack: meter.createCounter("fiscalflow_budget_held_back", undefined, "calls that went back unsent"),
  };
  const left = meter.createGauge("fiscalflow_budget_left", "int", undefined, "requests left in the window");
  const reserve = meter.createGauge(
    "fiscalflow_budget_reserve",
    "int",
    undefined,
    "requests kept for interactive work",
  );
  const waiting = meter.createGauge(
    "fiscalflow_budget_waiting",
    "int",
    undefined,
    "calls that wait at the rate limiter",
  );
  const probing = meter.createGauge("fiscalflow_budget_probing", "int", undefined, "1 while the API fails every call");
  const minute = new Map<string, Counts>();

  function setGauges(limiter: RateLimiter): void {
    const { application, budget } = limiter;
    left.set(leftOf(limiter), { application });
    reserve.set(reserveOf(limiter), { application });
    probing.set(budget.trouble.probing ? 1 : 0, { application });
    for (const callClass of CLASSES) waiting.set(limiter.waiting[callClass], { application, class: callClass });
  }

  function tellMinute(limiter: RateLimiter): void {
    const { application, budget } = limiter;
    const counts = minute.get(application);
    minute.delete(application);
    const isProbing = budget.trouble.probing !== undefined;
    const waits = limiter.waiting.interactive + limiter.waiting.background > 0;
    if (!counts && !isProbing && !waits) return;
    log.info("the request budget", {
      application,
      ...(counts ?? noCounts()),
      waiting: { ...limiter.waiting },
      left: leftOf(limiter),
      limit: budget.limit,
      reserve: reserveOf(limiter),
      windowEndsAt: new Date(budget.window.endsAtMs).toISOString(),
      toldByHeaders: budget.window.fromHeaders,
      probing: isProbing,
      countsAlone: limiter.countsAlone,
    });
  }

  return {
    watchOf(application) {
      const count = (what: keyof Counts, callClass: CallClass): void => {
        counters[what].add(1, { application, class: callClass });
        let counts = minute.get(application);
        if (!counts) minute.set(application, (counts = noCounts()));
        counts[what][callClass] += 1;
      };
      return {
        sent: (callClass) => count("sent", callClass),
        refused: (callClass) => count("refused", callClass),
        heldBack: (callClass) => count("heldBack", callClass),
      };
    },
    start(limiters) {
      const gauges = setInterval(() => limiters.forEach(setGauges), GAUGES_EACH_MS).unref();
      const lines = setInterval(() => limiters.forEach(tellMinute), LINE_EACH_MS).unref();
      return () => {
        clearInterval(gauges);
        clearInterval(lines);
      };
    },
  };
}

function noCounts(): Counts {
  const none = (): Record<CallClass, number> => ({ interactive: 0, background: 0 });
  return { sent: none(), refused: none(), heldBack: none() };
}

function leftOf({ spent, budget }: RateLimiter): number {
  return Math.max(0, budget.limit - spent);
}

function reserveOf({ budget }: RateLimiter): number {
  return reserveFor("background", budget, Date.now());
}
