import type { Ledger, Observation } from "../src/ledger/index.ts";

interface ObserverLog {
  warn: (message: string, fields: Record<string, unknown>) => void;
}

/** Between two statements about one observation: what thousands of sales show is one row of the ledger. */
const PAUSE_MS = 60_000;

interface Seen {
  /** How often since it was kept last. */
  times: number;
  keptAtMs: number;
}

/**
 * What answers show that does not fit the dialect, and that stops nothing: logged once in the log of this process, and
 * counted in the ledger for `fiscalflow doctor`. Nobody waits for it, and a ledger that is away costs no more than the
 * count.
 */
export class Observer {
  readonly #ledger: Pick<Ledger, "observations">;
  readonly #log: ObserverLog;
  readonly #nowMs: () => number;
  readonly #seen = new Map<string, Seen>();

  constructor(ledger: Pick<Ledger, "observations">, log: ObserverLog, nowMs: () => number) {
    this.#ledger = ledger;
    this.#log = log;
    this.#nowMs = nowMs;
  }

  note(observation: Observation): void {
    const { service, connection, businessId, kind, subject, value, message } = observation;
    const key = JSON.stringify([service, connection, businessId, kind, subject, value]);
    let seen = this.#seen.get(key);
    if (!seen) {
      seen = { times: 0, keptAtMs: -Infinity };
      this.#seen.set(key, seen);
      this.#log.warn(message, { service, connection, ...(businessId !== undefined && { businessId }), kind, subject });
    }
    seen.times += 1;
    if (this.#nowMs() - seen.keptAtMs < PAUSE_MS) return;
    const { times } = seen;
    seen.times = 0;
    seen.keptAtMs = this.#nowMs();
    this.#ledger.observations.note(observation, times).catch(() => {
      seen.times += times;
    });
  }
}
