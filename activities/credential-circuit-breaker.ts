import {
  classifyError,
  ComplianceApiError,
  type ComplianceDialect,
  type OperationName,
} from "../src/compliance/index.ts";
import { nairobiTime } from "../src/contract/index.ts";
import { endOfPauseMs } from "../src/http/deadline.ts";
import { LOOKED_WITHIN_MS } from "./failure.ts";

/** The key that requests are sent with; it may be replaced at any time. */
export interface PresentKey {
  /** Another one after each change. */
  readonly version: number | string;
  readAgain: () => void;
}

/** Refused with a key that has been replaced since: nothing was done, and the call can be sent again at once. */
export class KeyReplacedError extends Error {
  override readonly name = "KeyReplacedError" as const;

  constructor(operation: string, refusal: Error) {
    super(`${operation} was sent with a key that has been replaced since, and is sent again with the new one`, {
      cause: refusal,
    });
  }
}

/** Never holds the key itself. */
export interface KeyTrouble {
  connection: string;
  status: number;
  apiCode: string | undefined;
  /** The first call that was refused; with 401 all others are refused with it. */
  operation: string;
  businessId: string | undefined;
}

/** Called once when a key begins to be refused, and once when it works again. */
export interface KeyWatch {
  /** @param isRefused whether it still is, as far as calls have shown lately */
  refused: (trouble: KeyTrouble, isRefused: () => boolean) => void;
  works: (trouble: KeyTrouble, refusedForMs: number) => void;
}

interface CredentialCircuitBreakerOptions {
  connection: string;
  key: PresentKey;
  dialect: ComplianceDialect;
  /** The pause after the first refusal; later ones grow to twenty times of it. */
  firstPauseMs: number;
  nowMs: () => number;
  watch: KeyWatch;
}

export interface KeyCall {
  operation: OperationName;
  businessId: string | undefined;
  /** Who asks. Counted once as waiting, however often it asks. */
  caller: string;
  /** Of this attempt, by the clock of the Temporal server (Unix milliseconds). */
  scheduledAtMs: number;
  /** When an operator last asked the caller to try again, by the same clock. */
  retriedAtMs: number | undefined;
}

interface KeyEvidence {
  notSent: true;
  /** ISO 8601, as is `nextTryAt`. */
  keyRefusedSince: string;
  nextTryAt: string;
  /** Workflows that have met this refusal since then, each once. */
  waiting: number;
}

/** Not sent, since the key was refused a moment ago: the answer would be the same. */
export class KeyHeldError extends Error {
  override readonly name = "KeyHeldError" as const;
  readonly refusal: ComplianceApiError;
  readonly evidence: KeyEvidence;
  /** Until the next call of this kind may go out. */
  readonly heldForMs: number;

  constructor(operation: string, refusal: ComplianceApiError, evidence: KeyEvidence, heldForMs: number) {
    const { keyRefusedSince, nextTryAt, waiting } = evidence;
    super(
      `${operation} was not sent, since the key is refused: ${refusal.message}. Refused since ${inNairobi(keyRefusedSince)}, ` +
        `tried again from ${inNairobi(nextTryAt)} on, or on retry; ${waiting} wait.`,
      { cause: refusal },
    );
    this.refusal = refusal;
    this.evidence = evidence;
    this.heldForMs = heldForMs;
  }
}

function inNairobi(isoTime: string): string {
  return nairobiTime(Date.parse(isoTime));
}

/** The pauses of a refused key, in shares of the first: by default 30 s, 1, 2, 5 and 10 minutes. */
const RUNGS = [1, 2, 4, 10, 20] as const;

interface Standing {
  /** One for all businesses of an operation: an organisation-wide key has one owner. */
  alert: string;
  /** When the latest call was scheduled that was accepted, by the clock of the Temporal server. */
  acceptedAtMs: number;
  /** How often it has changed. A call that left before the latest change has nothing to say about it. */
  changes: number;
  refused?: Refused | undefined;
}

interface Refused {
  error: ComplianceApiError;
  keyVersion: PresentKey["version"];
  trouble: KeyTrouble;
  sinceMs: number;
  /** When it was refused last, or looked at by what waits for it, by the clock of this process. */
  seenAtMs: number;
  /** Of the call that was refused last: an operator who asked later than that has not had an answer yet. */
  scheduledAtMs: number;
  probeAtMs: number;
  probing: boolean;
  rung: number;
  waiting: Set<string>;
}

/** What the outcome of a call says of the key. */
type Finding = "accepted" | "nothing" | ComplianceApiError;

/**
 * What the key of one connection is refused, as this process has seen it, so that a thousand sales on a refused key
 * make one call each pause and not a thousand (docs/decisions/0007). 401 is about the key as a whole; 403 about one
 * operation for one business (Fiscal Compliance API, "Authentication"). Calls pass until one is refused; then one alone
 * passes after each pause, as the probe; with the first that is accepted all pass again, and so they do with a key that
 * replaces the refused one.
 */
export class CredentialCircuitBreaker {
  readonly #options: CredentialCircuitBreakerOptions;
  readonly #standings = new Map<string, Standing>();

  constructor(options: CredentialCircuitBreakerOptions) {
    this.#options = options;
  }

  /**
   * @throws KeyHeldError if it was not sent; KeyReplacedError if it is to be sent again; whatever `send` throws
   */
  async pass<T>(call: KeyCall, send: () => Promise<T>): Promise<T> {
    const { key } = this.#options;
    if (this.#held(call)) key.readAgain();
    const held = this.#held(call);
    if (held) throw held;
    const { version } = key;
    const tellKey = this.#enter(this.#standing("401"), call);
    const tellPermission = this.#enter(this.#permission(call), call);
    let finding: Finding = "accepted";
    try {
      return await send();
    } catch (error) {
      finding = this.#findingOf(call, error);
      if (typeof finding === "object" && finding.status === 401) {
        // What needs the key parks next: so it is looked at now, and not when its turn comes.
        key.readAgain();
        if (key.version !== version) {
          finding = "nothing";
          throw new KeyReplacedError(call.operation, error as Error);
        }
      }
      throw error;
    } finally {
      const lacksPermission = typeof finding === "object" && finding.status === 403;
      // A key that lacks a permission is a good key, and a bad key says nothing of its permissions.
      tellKey(lacksPermission ? "accepted" : finding);
      tellPermission(typeof finding === "object" && !lacksPermission ? "nothing" : finding);
    }
  }

  /** Whether a call that was scheduled later than that showed the key to be good, or good for that operation. */
  acceptedAfter(atMs: number, permission?: Pick<KeyCall, "operation" | "businessId">): boolean {
    return (permission ? this.#permission(permission) : this.#standing("401")).acceptedAtMs > atMs;
  }

  /** Asked by what waits for an operation that the key may not do: it is wanted still. */
  holds(call: KeyCall): boolean {
    const { refused } = this.#permission(call);
    if (refused) refused.seenAtMs = this.#options.nowMs();
    return this.#held(call) !== undefined;
  }

  #permission({ operation, businessId = "" }: Pick<KeyCall, "operation" | "businessId">): Standing {
    return this.#standing(`403 ${operation}`, businessId);
  }

  #standing(alert: string, business = ""): Standing {
    const name = `${alert} ${business}`;
    let standing = this.#standings.get(name);
    if (!standing) this.#standings.set(name, (standing = { alert, acceptedAtMs: -Infinity, changes: 0 }));
    return standing;
  }

  /** Undefined if the call may go. An operator's `retry` that is newer than the last refusal always may. */
  #held(call: KeyCall): KeyHeldError | undefined {
    const nowMs = this.#nowMs(call);
    for (const { refused } of [this.#standing("401"), this.#permission(call)]) {
      if (!refused || this.#isReplaced(refused)) continue;
      const isDue = nowMs >= endOfPauseMs(refused.probeAtMs, nowMs, this.#longestPauseMs);
      if (askedSince(refused, call) || (!refused.probing && isDue)) continue;
      refused.waiting.add(call.caller);
      const evidence = {
        notSent: true,
        keyRefusedSince: new Date(refused.sinceMs).toISOString(),
        nextTryAt: new Date(Math.max(refused.probeAtMs, nowMs)).toISOString(),
        waiting: refused.waiting.size,
      } as const;
      return new KeyHeldError(call.operation, refused.error, evidence, Math.max(refused.probeAtMs - nowMs, 0));
    }
    return undefined;
  }

  get #longestPauseMs(): number {
    return this.#options.firstPauseMs * Math.max(...RUNGS);
  }

  #enter(standing: Standing, call: KeyCall): (finding: Finding) => void {
    const { changes, refused } = standing;
    const isProbe = refused !== undefined && !this.#isReplaced(refused) && !askedSince(refused, call);
    if (isProbe) refused.probing = true;
    return (finding) => {
      if (finding === "accepted") standing.acceptedAtMs = Math.max(standing.acceptedAtMs, call.scheduledAtMs);
      if (changes !== standing.changes) return;
      if (typeof finding === "object") this.#refuse(standing, call, finding, isProbe);
      else if (finding === "accepted" && refused) this.#reopen(standing, call, refused);
      // The next one may try.
      else if (isProbe) refused.probing = false;
    };
  }

  #refuse(standing: Standing, call: KeyCall, error: ComplianceApiError, wasProbe: boolean): void {
    const nowMs = this.#nowMs(call);
    const { connection, firstPauseMs, watch } = this.#options;
    const { status, apiCode } = error;
    const { operation, businessId } = call;
    const before = standing.refused;
    const told = this.#troubleOf(standing.alert);
    const trouble = told ?? { connection, status, apiCode, operation, businessId };
    // An operator who tries often must not make all others wait longer.
    const rung = before && !this.#isReplaced(before) ? Math.min(before.rung + (wasProbe ? 1 : 0), RUNGS.length - 1) : 0;
    standing.changes++;
    standing.refused = {
      error,
      keyVersion: this.#options.key.version,
      trouble,
      sinceMs: before?.sinceMs ?? nowMs,
      seenAtMs: this.#options.nowMs(),
      scheduledAtMs: call.scheduledAtMs,
      probeAtMs: nowMs + firstPauseMs * (RUNGS[rung] ?? 1),
      probing: false,
      rung,
      waiting: (before?.waiting ?? new Set<string>()).add(call.caller),
    };
    if (!told) tell(() => watch.refused(trouble, () => this.#isRefused(standing.alert)));
  }

  /**
   * Of an alert, as long as somebody waits for the key: what waits tries it again within the longest pause and the
   * longest time between two looks. Of a process that nobody asks any more, nothing else would take the alert back.
   */
  #isRefused(alert: string): boolean {
    const { nowMs } = this.#options;
    const triedWithinMs = this.#longestPauseMs + LOOKED_WITHIN_MS;
    for (const { alert: told, refused } of this.#standings.values())
      if (told === alert && refused && !this.#isReplaced(refused) && nowMs() - refused.seenAtMs <= triedWithinMs)
        return true;
    return false;
  }

  /** It was refused to a key that is in use no longer. */
  #isReplaced({ keyVersion }: Refused): boolean {
    return keyVersion !== this.#options.key.version;
  }

  #reopen(standing: Standing, call: KeyCall, { trouble, sinceMs }: Refused): void {
    standing.changes++;
    standing.refused = undefined;
    const refusedForMs = this.#nowMs(call) - sinceMs;
    if (!this.#troubleOf(standing.alert)) tell(() => this.#options.watch.works(trouble, refusedForMs));
  }

  /** What was reported of the alert; undefined if nothing of it is refused. */
  #troubleOf(alert: string): KeyTrouble | undefined {
    for (const standing of this.#standings.values())
      if (standing.alert === alert && standing.refused) return standing.refused.trouble;
    return undefined;
  }

  #findingOf({ operation }: KeyCall, error: unknown): Finding {
    if (!(error instanceof ComplianceApiError)) return "nothing";
    const { status, envelope } = error;
    const configuration = classifyError(operation, error, this.#options.dialect).kind === "configuration";
    // A 403 without the service's own envelope is somebody's in between: a firewall that dislikes one sale's words, for
    // example.
    if (configuration && (status === 401 || envelope)) return error;
    const served = envelope && status < 500 && ![401, 403, 408, 429].includes(status);
    return served ? "accepted" : "nothing";
  }

  /** Whichever clock is ahead: a task that queued was scheduled long ago, and a test's server skips time. */
  #nowMs({ scheduledAtMs }: KeyCall): number {
    return Math.max(this.#options.nowMs(), scheduledAtMs);
  }
}

function askedSince(refused: Refused, { retriedAtMs }: KeyCall): boolean {
  return retriedAtMs !== undefined && retriedAtMs > refused.scheduledAtMs;
}

/** A watch that throws must not turn a write that was answered into one whose outcome nobody knows. */
function tell(alert: () => void): void {
  try {
    alert();
  } catch {
    // No caller is left to report it to.
  }
}
