import { endOfPauseMs } from "../http/deadline.ts";
import type { QuotaCounts, QuotaWindow, SettledEdge, SpendAnswer } from "../ledger/index.ts";
import type { Window } from "./budget.ts";

/** A statement takes a millisecond or two: a database that needs this long is taken for away. */
const WITHIN_MS = 1_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

export interface FleetCountOptions {
  application: string;
  counts: QuotaCounts;
  nowMs: () => number;
  /** Called once when the count is away, and once when it is back. */
  onAway: (reason: string) => void;
  onBack: (awayForMs: number) => void;
}

interface Away {
  sinceMs: number;
  pauseMs: number;
  nextAtMs: number;
  /** Somebody asks the database whether it is back. */
  asking: boolean;
}

/** What became of a call that was counted. */
export interface FleetSettlement {
  counted?: { used: number; limit: number } | undefined;
  unsent?: boolean;
  edge?: SettledEdge | undefined;
}

/** What is to be known of a call whose outcome is counted. */
export interface Grant {
  number: number;
  sequence: number;
}

/**
 * The fleet's count of one application, which may be away: then every question is answered with undefined, at once, and
 * one caller at a time asks the database again after growing pauses.
 */
export class FleetCount {
  readonly #options: FleetCountOptions;
  readonly #settling = new Set<Promise<unknown>>();
  #away: Away | undefined;

  constructor(options: FleetCountOptions) {
    this.#options = options;
  }

  spend(reserve: number, limit: number, window: Window, nowMs: number): Promise<SpendAnswer | undefined> {
    const { application, counts } = this.#options;
    const { endsAtMs, lengthMs, fromHeaders } = window;
    const believed = { limit, endsInMs: endsAtMs - nowMs, lengthMs, fromHeaders };
    return this.#ask(() => counts.spend({ application, reserve, believed }, WITHIN_MS));
  }

  settle(grant: Grant, settlement: FleetSettlement): Promise<QuotaWindow | undefined> {
    const { application, counts } = this.#options;
    const settling = this.#ask(() => counts.settle({ application, ...grant, ...settlement }, WITHIN_MS));
    this.#settling.add(settling);
    return settling.finally(() => this.#settling.delete(settling));
  }

  /** Resolves once nothing is being written. */
  async settled(): Promise<void> {
    await Promise.all(this.#settling);
  }

  async #ask<Result>(question: () => Promise<Result>): Promise<Result | undefined> {
    const { nowMs } = this.#options;
    const away = this.#away;
    const atMs = nowMs();
    if (away && (away.asking || atMs < endOfPauseMs(away.nextAtMs, atMs, LONGEST_PAUSE_MS))) return undefined;
    if (away) away.asking = true;
    try {
      const answer = await question();
      if (this.#away && this.#away === away) {
        this.#away = undefined;
        this.#options.onBack(nowMs() - away.sinceMs);
      }
      return answer;
    } catch (error) {
      this.#fail(error, away);
      return undefined;
    }
  }

  #fail(error: unknown, before: Away | undefined): void {
    const atMs = this.#options.nowMs();
    if (!this.#away) {
      this.#away = { sinceMs: atMs, pauseMs: FIRST_PAUSE_MS, nextAtMs: atMs + FIRST_PAUSE_MS, asking: false };
      this.#options.onAway(error instanceof Error ? error.message : String(error));
    } else if (this.#away === before) {
      before.asking = false;
      before.pauseMs = Math.min(2 * before.pauseMs, LONGEST_PAUSE_MS);
      before.nextAtMs = atMs + before.pauseMs;
    }
  }
}
