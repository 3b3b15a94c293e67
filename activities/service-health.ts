import type { ServiceTrouble } from "../src/contract/index.ts";
import { AnswerError, TransportError } from "../src/http/errors.ts";

/**
 * What was known of the same trouble before this process: what the last attempt of the call that has just failed says
 * of it. Never throws.
 */
export type SeenBefore = (trouble: Pick<ServiceTrouble, "kind" | "service">) => Promise<ServiceTrouble | undefined>;

/** Of calls that meet a trouble, so many at most ask what was known of it before this process. */
const MOST_QUESTIONS = 10;

/**
 * Whether a service serves the calls of one application, or of one accounting connection, as this process has seen it:
 * what a failing activity says of the service, and since when. Any answer that is neither a 5xx nor a 429 shows that it
 * does. Where this process has not seen the service without its trouble, Temporal may know since when it is so.
 */
export class ServiceHealth {
  readonly #nowMs: () => number;
  readonly #seenBefore: SeenBefore;
  readonly #service: Pick<ServiceTrouble, "service">;
  #answered = false;
  #questions = 0;
  #trouble: ServiceTrouble | undefined;

  /** @param service default: the API */
  constructor(nowMs: () => number, seenBefore: SeenBefore, service?: "accounting") {
    this.#nowMs = nowMs;
    this.#seenBefore = seenBefore;
    this.#service = { ...(service && { service }) };
  }

  get trouble(): ServiceTrouble | undefined {
    return this.#trouble;
  }

  served(): void {
    this.#answered = true;
    this.#trouble = undefined;
  }

  /** @param attempt of the call's activity: a first one has nothing before it */
  async failed(error: unknown, attempt: number): Promise<void> {
    this.#saw(seenIn(error));
    const met = this.#trouble;
    if (met?.orEarlier !== true || attempt === 1 || this.#questions >= MOST_QUESTIONS) return;
    this.#questions += 1;
    const before = await this.#seenBefore(met);
    // Others may have been answered meanwhile, or have asked too.
    const now = this.#trouble;
    if (before && now?.orEarlier && now.kind === met.kind && before.sinceMs < now.sinceMs) this.#trouble = before;
  }

  #saw(seen: Seen | undefined): void {
    if (seen === "served") this.served();
    if (seen === "served" || seen === undefined || this.#trouble?.kind === seen) return;
    // The budget keeps calls back for what an answer has shown, too.
    if (seen === "held-back" && this.#trouble) return;
    // A service that was away until now has not limited rates before.
    const orEarlier = !this.#answered && this.#trouble?.kind !== "away" && ({ orEarlier: true } as const);
    this.#trouble = { kind: seen, ...this.#service, sinceMs: this.#nowMs(), ...orEarlier };
    if (seen === "rate-limited") this.#answered = true;
  }
}

type Seen = "served" | "away" | "rate-limited" | "held-back";

/** Undefined where the error says nothing of the service: the key is held, or the caller gave up, or came too late. */
function seenIn(error: unknown): Seen | undefined {
  const status = statusOf(error);
  if (status === 429) return "rate-limited";
  if (status !== undefined) return status >= 500 || status === 408 ? "away" : "served";
  if (!(error instanceof TransportError)) return undefined;
  if (error.code === "aborted" || error.code === "too-late") return undefined;
  return error.code === "held-back" ? "held-back" : "away";
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof AnswerError) return error.status;
  return error instanceof TransportError ? error.answered?.status : undefined;
}
