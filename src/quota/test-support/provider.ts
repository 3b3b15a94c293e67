import type { HttpAnswer } from "../../http/request.ts";
import type { Transport } from "../../http/transport.ts";

export interface ProviderOptions {
  limit: number;
  windowMs: number;
  /** How much later than the callers' clocks its windows begin. */
  phaseMs?: number;
  /** Each window begins with the first request after the one before has ended, and not by the clock. */
  beginsWithRequest?: boolean;
  /** From sending to admission, and from there to the answer. */
  latencyMs: () => number;
  rounds?: "up" | "down";
  headers?: boolean;
}

/** A service that counts fixed windows, by the clock of the test. */
export function provider(options: ProviderOptions) {
  const { limit, windowMs, phaseMs = 0, beginsWithRequest = false, latencyMs, rounds = "up", headers = true } = options;
  /** By when they begin. */
  const windows = new Map<number, { used: number; refused: number }>();
  let beganAtMs = -Infinity;
  /** Of what is admitted; `resetSeconds` is said instead of the true reset. */
  const answers: { status: number; resetSeconds?: number | undefined } = { status: 200 };
  const round = rounds === "up" ? Math.ceil : Math.floor;

  /** Takes a request of the current window, as a stranger does too. */
  function admit(): { allowed: boolean; remaining: number; resetSeconds: number } {
    const atMs = Date.now() - phaseMs;
    if (!beginsWithRequest) beganAtMs = Math.floor(atMs / windowMs) * windowMs;
    else if (atMs >= beganAtMs + windowMs) beganAtMs = atMs;
    const window = windows.get(beganAtMs) ?? { used: 0, refused: 0 };
    windows.set(beganAtMs, window);
    const allowed = window.used < limit;
    if (allowed) window.used += 1;
    else window.refused += 1;
    const resetSeconds = round((beganAtMs + windowMs - atMs) / 1_000);
    return { allowed, remaining: limit - window.used, resetSeconds };
  }

  const transport: Transport = {
    async send() {
      const sentAtMs = Date.now();
      await delay(latencyMs());
      const { allowed, remaining, resetSeconds } = admit();
      await delay(latencyMs());
      const status = allowed ? answers.status : 429;
      const told = {
        "x-ratelimit-limit": String(limit),
        "x-ratelimit-remaining": String(remaining),
        "x-ratelimit-reset": String(answers.resetSeconds ?? resetSeconds),
        ...(!allowed && { "retry-after": String(resetSeconds) }),
      };
      const answeredAtMs = Date.now();
      const answer: HttpAnswer = {
        status,
        headers: headers && (status < 400 || status === 429) ? told : {},
        bodyText: "",
        bodyLength: 0,
        sentAtMs,
        answeredAtMs,
      };
      return answer;
    },
  };
  return { transport, answers, windows, admit };
}

/** By the timers of the test, which may be fake. */
function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
