import { type MetricMeter, noopMetricMeter } from "@temporalio/common";

import type { FastifyReply } from "fastify";

import type { Forwarded } from "./temporal-signaller.ts";

/** The part of a pino logger that the receiver uses. */
export interface CallbackLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Why a request is refused, and the status of its answer. The words are labels of a metric: a closed list. */
export const REFUSALS = {
  "unknown-address": 404,
  "unknown-token": 404,
  "unknown-connection": 404,
  method: 405,
  "no-timestamp": 401,
  "old-timestamp": 401,
  "future-timestamp": 401,
  "no-signature": 401,
  "wrong-signature": 401,
  "too-large": 413,
  "cut-off": 408,
  "too-slow": 408,
  malformed: 400,
  "head-too-large": 431,
  /** As many callbacks as may be held wait for their turn. A connection too many gets no answer. */
  busy: 429,
  "temporal-away": 503,
  /** A defect of the receiver. */
  failed: 503,
} as const;

export type Refusal = keyof typeof REFUSALS;

/** `other`: what names neither a callback nor a webhook, and what never became a request. */
export type RequestKind = "callback" | "webhook" | "other";

/** A request, as far as it is known who was meant. `connection`: of webhooks, if it is a configured one. */
export interface Source {
  kind: RequestKind;
  connection?: string;
}

export interface WatchOptions {
  log: CallbackLog;
  /** Default: nothing is measured. */
  meter?: MetricMeter | undefined;
  /** Default 60,000. */
  lineEveryMs?: number | undefined;
}

/** Boundaries of the histogram, in seconds: a signal takes some milliseconds, and at most five seconds. */
export const DURATION_BUCKETS = {
  fiscalflow_receiver_duration: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
};

/**
 * Collects counts, and tells of them at most once in so long, where there are any. Anyone can send a request that is
 * refused: a line for each would let a stranger fill the log.
 */
export function countsPerLine<Counts extends object>(
  everyMs: number,
  none: () => Counts,
  write: (counts: Counts) => void,
): { current: () => Counts; close: () => void } {
  let counts: Counts | undefined;
  let nextLine: NodeJS.Timeout | undefined;
  const tell = (): void => {
    clearTimeout(nextLine);
    const told = counts;
    counts = undefined;
    if (told) write(told);
  };
  return {
    /** Those since the last line, to be changed. */
    current: () => {
      if (counts === undefined) {
        counts = none();
        nextLine = setTimeout(tell, everyMs).unref();
      }
      return counts;
    },
    /** Tells of what has been counted since the last line. */
    close: tell,
  };
}

/** By source and reason. */
type RefusedCounts = Record<string, Partial<Record<Refusal, number>>>;

/** What is to be seen of the receiver: metrics, and at most one line a minute about all refused requests. */
export class ReceiverWatch {
  readonly #metrics: ReturnType<typeof metricsOf>;
  readonly #refused: ReturnType<typeof countsPerLine<RefusedCounts>>;

  constructor({ log, meter = noopMetricMeter, lineEveryMs = 60_000 }: WatchOptions) {
    this.#metrics = metricsOf(meter);
    this.#refused = countsPerLine<RefusedCounts>(
      lineEveryMs,
      () => ({}),
      (refused) => log.warn({ refused }, "requests were refused, by reason, within a minute"),
    );
  }

  refused({ kind, connection = "" }: Source, reason: Refusal): void {
    this.#metrics.refused.add(1, { kind, connection, reason });
    const counts = (this.#refused.current()[`${kind} ${connection}`.trimEnd()] ??= {});
    counts[reason] = (counts[reason] ?? 0) + 1;
  }

  accepted({ kind, connection = "" }: Source): void {
    this.#metrics.accepted.add(1, { kind, connection });
  }

  forwarded({ kind, connection = "" }: Source, outcome: Forwarded): void {
    this.#metrics.forwarded.add(1, { kind, connection, outcome });
  }

  answered({ kind }: Source, status: number, durationMs: number): void {
    const answer = status < 400 ? "accepted" : "refused";
    this.#metrics.duration.record(durationMs / 1_000, { kind, answer });
  }

  /** Writes what has been counted since the last line. */
  close(): void {
    this.#refused.close();
  }
}

export type Refuse = (
  reply: FastifyReply,
  source: Source,
  reason: Refusal,
  headers?: Record<string, string>,
) => FastifyReply;

/** Answers a request that is refused, and counts it. */
export function refuseWith(watch: ReceiverWatch): Refuse {
  return (reply, source, reason, headers = {}) => {
    watch.refused(source, reason);
    const status = REFUSALS[reason];
    // What is left of the body is not worth reading.
    if (reason === "too-large") reply.header("connection", "close");
    if (status === 429) reply.header("retry-after", "1");
    if (status === 503) reply.header("retry-after", "10");
    return reply.code(status).headers(headers).send();
  };
}

function metricsOf(meter: MetricMeter) {
  return {
    accepted: meter.createCounter("fiscalflow_receiver_accepted", undefined, "callbacks and webhooks answered 202"),
    refused: meter.createCounter("fiscalflow_receiver_refused", undefined, "requests refused, by reason"),
    forwarded: meter.createCounter("fiscalflow_receiver_signals", undefined, "callbacks and webhooks, by their signal"),
    duration: meter.createHistogram(
      "fiscalflow_receiver_duration",
      "float",
      "seconds",
      "from a request's first line to its answer",
    ),
  };
}
