import type { MetricMeter } from "@temporalio/common";

import type { KeyWatch } from "../../activities/compliance/index.ts";
import type { KeyTrouble } from "../../activities/credential-circuit-breaker.ts";
import type { SecretWatch } from "../config/index.ts";
import { type CallClass, failsEveryCall, type RateLimiter, type RateLimiterWatch, reserveFor } from "../quota/index.ts";

/** As Temporal's own loggers take it. */
export interface KeyLog {
  warn: (message: string, fields: Record<string, unknown>) => void;
  info: (message: string, fields: Record<string, unknown>) => void;
}

/** 1 while a key is refused: to be alerted on. Of each process that serves the connection, as it has seen it. */
const GAUGE = "fiscalflow_key_refused";

/** Codes that can refuse a key (Fiscal Compliance API, "Errors"). */
const KNOWN_CODES: readonly string[] = ["invalid_api_key", "forbidden", "not_found"];

/** For the log: a service can send any text. */
function knownCode(apiCode: string | undefined): string {
  if (apiCode === undefined) return "none";
  return KNOWN_CODES.includes(apiCode) ? apiCode : "other";
}

/** All of them ours, since each value is a time series: never the API's code. */
function labelsOf({ connection, operation, status }: KeyTrouble): Record<string, string> {
  return { connection, operation, status: String(status) };
}

const GAUGES_EACH_MS = 5_000;

/**
 * One warning, and one alert, for a key that begins to be refused, however many sales wait for it; never the key
 * itself. The alert is looked after every few seconds, since a process that is idle meets no answer which ends it.
 */
export function watchKeys(
  log: KeyLog,
  meter: Pick<MetricMeter, "createGauge">,
  everyMs = GAUGES_EACH_MS,
): KeyWatch & { close: () => void } {
  const gauge = meter.createGauge(GAUGE, "int", undefined, "1 while the API refuses a connection's key (401, or 403)");
  const refused = new Map<string, { labels: Record<string, string>; isRefused: () => boolean }>();
  const looks = setInterval(() => {
    for (const { labels, isRefused } of refused.values()) gauge.set(isRefused() ? 1 : 0, labels);
  }, everyMs).unref();
  return {
    refused(trouble, isRefused) {
      const labels = labelsOf(trouble);
      log.warn("the API refuses the key: what needs it parks as credentials", {
        ...trouble,
        apiCode: knownCode(trouble.apiCode),
      });
      gauge.set(1, labels);
      refused.set(JSON.stringify(labels), { labels, isRefused });
    },
    works(trouble, refusedForMs) {
      const labels = labelsOf(trouble);
      log.info("the API accepts the key again", { ...trouble, apiCode: knownCode(trouble.apiCode), refusedForMs });
      gauge.set(0, labels);
      refused.delete(JSON.stringify(labels));
    },
    close: () => clearInterval(looks),
  };
}

/** Takes whether Temporal answers: of the worker, and of the receiver. */
export function temporalGaugeIn(meter: Pick<MetricMeter, "createGauge">): (isUp: boolean) => void {
  const gauge = meter.createGauge("fiscalflow_temporal_up", "int", undefined, "1 while Temporal answers this process");
  return (isUp) => gauge.set(isUp ? 1 : 0);
}

/** Takes 1 while the file of a secret is of no use, and 0 otherwise; `secret` is the secret's setting. */
type SecretGauge = (value: 0 | 1, labels: { secret: string }) => void;

const SECRET_GAUGE = {
  name: "fiscalflow_secret_file_refused",
  meaning: "1 while the file of a secret is missing, empty or of a wrong form, and the value of before is in use",
} as const;

export function gaugeIn(meter: MetricMeter): SecretGauge {
  const gauge = meter.createGauge(SECRET_GAUGE.name, "int", undefined, SECRET_GAUGE.meaning);
  return (value, labels) => gauge.set(value, labels);
}

/** One warning, and one alert, for a file that begins to be of no use, however often it is read; never a value. */
export function watchSecrets(log: KeyLog, gauge: SecretGauge = () => undefined): SecretWatch {
  return {
    replaced(secret) {
      log.info("a secret was replaced: its file has changed", { secret });
    },
    refused(secret, file, why) {
      log.warn("the file of a secret cannot be used: the value of before stays in use", { secret, file, why });
      gauge(1, { secret });
    },
    usable(secret) {
      log.info("the file of a secret can be used again", { secret });
      gauge(0, { secret });
    },
  };
}

const CLASSES: readonly CallClass[] = ["interactive", "background"];

interface BudgetsWatch {
  watchOf: (application: string) => RateLimiterWatch;
  /** Sets the gauges every few seconds. @returns ends that */
  start: (limiters: readonly RateLimiter[]) => () => void;
}

/** What is to be seen of the request budgets, as metrics. */
export function watchBudgets(meter: MetricMeter): BudgetsWatch {
  const gauge = (name: string, meaning: string) =>
    meter.createGauge(`fiscalflow_budget_${name}`, "int", undefined, meaning);
  const sent = meter.createCounter("fiscalflow_budget_calls", undefined, "calls sent to the API");
  const refused = meter.createCounter("fiscalflow_budget_refused", undefined, "calls answered with 429");
  const heldBack = meter.createCounter("fiscalflow_budget_held_back", undefined, "calls that went back unsent");
  const left = gauge("left", "requests left in the window");
  const reserve = gauge("reserve", "requests kept for interactive work");
  const waiting = gauge("waiting", "calls that wait at the rate limiter");
  const probing = gauge("probing", "1 while the API fails every call");

  function setGauges({ application, budget, spent, waiting: calls }: RateLimiter): void {
    left.set(Math.max(0, budget.limit - spent), { application });
    const nowMs = Date.now();
    reserve.set(reserveFor("background", budget, nowMs), { application });
    probing.set(failsEveryCall(budget.trouble, nowMs) ? 1 : 0, { application });
    for (const callClass of CLASSES) waiting.set(calls[callClass], { application, class: callClass });
  }

  return {
    watchOf: (application) => ({
      sent: (callClass) => sent.add(1, { application, class: callClass }),
      refused: (callClass) => refused.add(1, { application, class: callClass }),
      heldBack: (callClass) => heldBack.add(1, { application, class: callClass }),
    }),
    start(limiters) {
      // What has not happened yet is 0, so that the first time is an increase.
      for (const { application } of limiters)
        for (const callClass of CLASSES)
          for (const counter of [sent, refused, heldBack]) counter.add(0, { application, class: callClass });
      const gauges = setInterval(() => limiters.forEach(setGauges), GAUGES_EACH_MS).unref();
      return () => clearInterval(gauges);
    },
  };
}
