import type { IncomingHttpHeaders } from "node:http";

import { ApiError } from "./request.ts";
import { keySchema, known, parseInstruction, type Scenario } from "./scenario.ts";

export type Application = Omit<Scenario["applications"][number], "keys">;
type Key = Scenario["applications"][number]["keys"][number] & { application: string };
/** What `setKey` may change; `application` is needed for a key that does not exist yet. */
export type KeyPatch = Partial<Omit<Key, "key">>;

/** Who calls, once the key is known to be good. */
export interface Caller {
  application: Application;
  environment: "sandbox" | "production";
  boundTo: string | null;
  scopes: readonly string[];
}

/** Applications and their keys (document, Authentication). */
export class Keyring {
  readonly applications = new Map<string, Application>();
  readonly #keys = new Map<string, Key>();

  constructor(applications: Scenario["applications"]) {
    for (const { keys, ...application } of applications) {
      this.applications.set(application.name, application);
      for (const key of keys) this.#keys.set(key.key, { ...key, application: application.name });
    }
  }

  /**
   * Undefined for a missing, malformed, unknown or revoked key and for a suspended application: the caller never learns
   * which.
   */
  caller(headers: IncomingHttpHeaders): Caller | undefined {
    const direct = headers["x-api-key"];
    const given = typeof direct === "string" ? direct : /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
    const found = this.#keys.get(given ?? "");
    const application = this.applications.get(found?.application ?? "");
    if (found === undefined || application === undefined || application.suspended || found.revoked) return undefined;
    const environment = found.key.startsWith("cmp_sk_live_") ? "production" : "sandbox";
    return { application, environment, boundTo: found.businessId, scopes: found.scopes };
  }

  /** Changes a key, makes it when the patch names its application, or removes it (null). */
  set(key: string, patch: KeyPatch | null): void {
    if (patch === null) {
      this.#keys.delete(key);
      return;
    }
    const { application = "", ...before } = { key, ...this.#keys.get(key), ...patch };
    known("application", this.applications, application);
    this.#keys.set(key, { ...parseInstruction("key", keySchema, before), application });
  }
}

export interface RateWindow {
  application: string;
  startMs: number;
  used: number;
  refused: number;
}

/** What the three headers tell. */
export interface Quota {
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

  /** @throws ApiError 429 once the window is used up */
  take(application: string, limit: number, windowMs: number, nowMs: number): Quota {
    const startMs = Math.floor(nowMs / windowMs) * windowMs;
    const window = this.#window(application, startMs);
    const resetSeconds = Math.max(1, Math.ceil((startMs + windowMs - nowMs) / 1000));
    if (window.used >= limit) {
      window.refused += 1;
      throw rateLimited({ limit, remaining: 0, resetSeconds }, resetSeconds);
    }
    window.used += 1;
    return { limit, remaining: limit - window.used, resetSeconds };
  }

  list(): readonly RateWindow[] {
    return this.#all;
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
}

export function rateLimited(quota: Quota, retryAfterSeconds: number): ApiError {
  const headers = { ...quotaHeaders({ ...quota, remaining: 0 }), "retry-after": String(retryAfterSeconds) };
  return new ApiError(429, "rate_limited", `The ${quota.limit} requests for this minute are used up`, {}, headers);
}

export function quotaHeaders({ limit, remaining, resetSeconds }: Quota): Record<string, string> {
  return {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(resetSeconds),
  };
}
