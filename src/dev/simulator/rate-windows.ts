export interface RateWindow {
  application: string;
  startMs: number;
  used: number;
  refused: number;
}

/** What the three headers tell. */
export interface Quota {
  allowed: boolean;
  limit: number;
  remaining: number;
  resetSeconds: number;
}

const keptWindows = 10_000;

/**
 * Fixed windows per application, aligned to `floor(now / windowMs)` (document, Limits: "Enforced in one-minute
 * windows"). A refused request takes nothing from its window.
 */
export class RateWindows {
  readonly #current = new Map<string, RateWindow>();
  readonly #all: RateWindow[] = [];

  take(application: string, limit: number, windowMs: number, nowMs: number): Quota {
    const startMs = Math.floor(nowMs / windowMs) * windowMs;
    const window = this.#window(application, startMs);
    const allowed = window.used < limit;
    if (allowed) window.used += 1;
    else window.refused += 1;
    const resetSeconds = Math.max(1, Math.ceil((startMs + windowMs - nowMs) / 1000));
    return { allowed, limit, remaining: Math.max(0, limit - window.used), resetSeconds };
  }

  #window(application: string, startMs: number): RateWindow {
    const current = this.#current.get(application);
    if (current?.startMs === startMs) return current;
    const opened: RateWindow = { application, startMs, used: 0, refused: 0 };
    this.#current.set(application, opened);
    this.#all.push(opened);
    if (this.#all.length > keptWindows) this.#all.splice(0, keptWindows / 10);
    return opened;
  }

  list(): readonly RateWindow[] {
    return this.#all;
  }
}

export function quotaHeaders(quota: Quota): Record<string, string> {
  return {
    "x-ratelimit-limit": String(quota.limit),
    "x-ratelimit-remaining": String(quota.remaining),
    "x-ratelimit-reset": String(quota.resetSeconds),
  };
}
