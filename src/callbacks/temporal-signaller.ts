import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import { type Client, isGrpcServiceError, WorkflowNotFoundError } from "@temporalio/client";

import { aboutWorkflow, syncBillPaymentsWorkflowId } from "../contract/ids.ts";
import type { CallbackReceived } from "../contract/messages.ts";
import { MAIN_TASK_QUEUE, SIGNALS, WORKFLOW_TYPES } from "../contract/names.ts";
import { endOfPauseMs } from "../http/deadline.ts";

/** gRPC's INVALID_ARGUMENT: among others, the workflow has taken as many signals as the server admits. */
const INVALID_ARGUMENT = 3;

/** `gone`: the workflow has closed or never was. `unreachable`: it is not known whether the signal arrived. */
export type SignalOutcome = "delivered" | "gone" | "unreachable";

export interface CallbackClient {
  /**
   * Starts the synchronisation of bill payments of an accounting connection, or asks the one that runs for another
   * pass.
   */
  requestSync(connection: string): Promise<"delivered" | "unreachable">;
  signalCallback(workflowId: string, callback: { event?: string }): Promise<SignalOutcome>;
  /**
   * For how long the oldest workflow task has waited for the workers (milliseconds), as it was some seconds ago;
   * undefined where Temporal does not say. Resolves within a bounded time.
   */
  workersBehindMs(): Promise<number | undefined>;
  /** Whether Temporal answers; resolves within a bounded time. */
  isReachable(): Promise<boolean>;
}

export const SIGNAL_MS = 5_000;
export const CHECK_MS = 2_000;
/** Of Temporal's task queue types. */
const WORKFLOW_TASKS = 1;

interface SignallerOptions {
  /** How long Temporal may take to accept a signal. Default {@link SIGNAL_MS}. */
  signalTimeoutMs?: number;
  /** How long a question to Temporal may take. Default {@link CHECK_MS}. */
  checkTimeoutMs?: number;
}

/** Tells workflows of their callbacks, through Temporal. Never throws: what went wrong is in the outcome. */
export function createTemporalSignaller(client: Client, options: SignallerOptions = {}): CallbackClient {
  const { signalTimeoutMs = SIGNAL_MS, checkTimeoutMs = CHECK_MS } = options;
  return {
    async signalCallback(workflowId, callback) {
      try {
        await client.withDeadline(Date.now() + signalTimeoutMs, () =>
          client.workflow.getHandle(workflowId).signal<[CallbackReceived]>(SIGNALS.callbackReceived, callback),
        );
        return "delivered";
      } catch (error) {
        return outcomeOf(error);
      }
    },
    async requestSync(connection) {
      try {
        await client.withDeadline(Date.now() + signalTimeoutMs, () =>
          client.workflow.signalWithStart(WORKFLOW_TYPES.syncBillPayments, {
            workflowId: syncBillPaymentsWorkflowId(connection),
            taskQueue: MAIN_TASK_QUEUE,
            args: [{ connection }],
            ...aboutWorkflow(WORKFLOW_TYPES.syncBillPayments, { connection }),
            signal: SIGNALS.syncRequested,
            signalArgs: [{}],
            workflowIdReusePolicy: "ALLOW_DUPLICATE",
          }),
        );
        return "delivered";
      } catch {
        return "unreachable";
      }
    },
    async workersBehindMs() {
      const ask = () =>
        client.workflowService.describeTaskQueue({
          namespace: client.options.namespace,
          taskQueue: { name: MAIN_TASK_QUEUE },
          taskQueueType: WORKFLOW_TASKS,
          reportStats: true,
        });
      try {
        const { stats } = await client.withDeadline(Date.now() + checkTimeoutMs, ask);
        return stats ? (optionalTsToMs(stats.approximateBacklogAge) ?? 0) : undefined;
      } catch {
        return undefined;
      }
    },
    async isReachable() {
      try {
        await client.withDeadline(Date.now() + checkTimeoutMs, () =>
          client.workflowService.describeNamespace({ namespace: client.options.namespace }),
        );
        return true;
      } catch {
        return false;
      }
    },
  };
}

/**
 * `gone`: Temporal has answered, and a repetition would be answered the same. Everything else is `unreachable`, so
 * that the sender tries again.
 */
function outcomeOf(error: unknown): SignalOutcome {
  if (error instanceof WorkflowNotFoundError) return "gone";
  const cause = error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) && Number(cause.code) === INVALID_ARGUMENT ? "gone" : "unreachable";
}

const FIRST_PAUSE_MS = 1_000;
/** After a signal that Temporal did not take: an outage that is over is to be noticed soon. */
const LONGEST_PAUSE_AWAY_MS = 10_000;
const SENT_AT_ONCE_AT_CLOSE = 200;
const DAY_MS = 24 * 60 * 60_000;

interface PaceOptions {
  /** @param event the latest that is told of; for display only */
  signal: (target: string, event: string | undefined) => Promise<SignalOutcome>;
  /** Default: each may leave at once. */
  turns?: Turns;
  /** Between two signals of one target, at most. Default: a day. */
  longestPauseMs?: number;
  /** Workflows that are remembered. Default 20,000. */
  remembered?: number;
}

/**
 * What became of a callback. `held`: it is signalled when its turn has come. `merged`: the next signal to its workflow,
 * which is due, tells of it too. `busy`: too many wait for their turn; it is forgotten.
 */
export type Forwarded = SignalOutcome | "held" | "merged" | "busy";

interface Paced {
  /** Signals so far, without those that Temporal did not take. */
  sent: number;
  /** When the last signal was sent, and the pause after it. */
  sentAtMs: number;
  pauseMs: number;
  last: SignalOutcome | undefined;
  underWay: Promise<SignalOutcome> | undefined;
  /** Of the signal that is due. */
  due: { event: string | undefined; timer: NodeJS.Timeout | undefined } | undefined;
}

/**
 * Passes callbacks on to their workflows, and webhooks to their synchronisation, no faster than a workflow can bear for
 * as long as it runs, and no more at once than may leave ({@link Turns}).
 *
 * A callback URL does not expire, and each signal makes its workflow read the document, which takes some twenty of the
 * 51,200 events that Temporal gives a run. So the pause after each signal to one workflow is twice the one before: 1 s,
 * 2 s, 4 s, up to a day, which makes 17 signals on the first day and one a day from then on. A callback that comes
 * during a pause is not lost: at its end, one signal tells of all that came. While Temporal is away the pause does not
 * grow beyond ten seconds. Several receivers, or one that restarts, each begin anew.
 */
export class SignalPace {
  readonly #signal: PaceOptions["signal"];
  readonly #turns: Turns;
  readonly #longestPauseMs: number;
  readonly #remembered: number;
  /** By last callback, the oldest first. */
  readonly #targets = new Map<string, Paced>();
  /** Temporal did not take the last signal. */
  #isAway = false;

  constructor({ signal, turns = AT_ONCE, longestPauseMs = DAY_MS, remembered = 20_000 }: PaceOptions) {
    this.#signal = signal;
    this.#turns = turns;
    this.#longestPauseMs = longestPauseMs;
    this.#remembered = remembered;
  }

  /** @param event for display only */
  async pass(target: string, event: string | undefined): Promise<Forwarded> {
    const known = this.#targets.get(target);
    const isFree = !known?.due && !known?.underWay;
    if (isFree && (!known || waitOf(known) <= 0)) {
      if (this.#turns.take()) {
        return await this.#send(target, this.#pacedOf(target), event).finally(() => this.#turns.end());
      }
      // Its sender keeps it better than this process.
      if (this.#isAway) return "unreachable";
      if (this.#turns.tooManyWait) return "busy";
      this.#sendLater(target, this.#pacedOf(target), event);
      return "held";
    }
    // The sender comes again, so that the callback is safe even if this process ends.
    if (isFree && known?.last === "unreachable") return "unreachable";
    const paced = this.#pacedOf(target);
    if (paced.due) paced.due.event = event;
    else this.#sendLater(target, paced, event);
    return "merged";
  }

  /** Passes on what is due. */
  async close(): Promise<void> {
    const targets = [...this.#targets].values();
    const sender = async (): Promise<void> => {
      for (const [target, paced] of targets) {
        await paced.underWay;
        // Temporal is away, and this process has not the time to wait for it.
        if (paced.due && (await this.#send(target, paced, paced.due.event)) === "unreachable") return;
      }
    };
    await Promise.all(Array.from({ length: SENT_AT_ONCE_AT_CLOSE }, sender));
  }

  #pacedOf(target: string): Paced {
    const known = this.#targets.get(target);
    const paced = known ?? { sent: 0, sentAtMs: 0, pauseMs: 0, last: undefined, underWay: undefined, due: undefined };
    this.#targets.delete(target);
    this.#targets.set(target, paced);
    if (this.#targets.size > this.#remembered) this.#forgetOne();
    return paced;
  }

  /** The oldest of which nothing is to be told any more. */
  #forgetOne(): void {
    for (const [target, { due, underWay }] of this.#targets) {
      if (due || underWay) continue;
      this.#targets.delete(target);
      return;
    }
  }

  async #send(target: string, paced: Paced, event: string | undefined): Promise<SignalOutcome> {
    clearTimeout(paced.due?.timer);
    paced.due = undefined;
    paced.sentAtMs = Date.now();
    paced.pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** paced.sent, this.#longestPauseMs);
    paced.underWay = this.#signal(target, event).catch(() => "unreachable");
    paced.last = await paced.underWay;
    paced.underWay = undefined;
    this.#isAway = paced.last === "unreachable";
    if (paced.last !== "unreachable") paced.sent += 1;
    else {
      // One that seems lost may have arrived: it is not repeated at once either.
      paced.pauseMs = Math.min(paced.pauseMs, LONGEST_PAUSE_AWAY_MS);
      this.#bringForward(target, paced);
    }
    return paced.last;
  }

  #sendLater(target: string, paced: Paced, event: string | undefined): void {
    const due: Paced["due"] = { event, timer: undefined };
    paced.due = due;
    const send = async (): Promise<void> => {
      if (paced.underWay) await paced.underWay;
      if (paced.due !== due) return;
      await this.#turns.wait();
      // It may have been told meanwhile, as one of the last things that this process does.
      const outcome = paced.due === due ? await this.#send(target, paced, due.event) : "gone";
      this.#turns.end();
      // Its sender was told that it was accepted, and does not come again. What came meanwhile tells of it too.
      if (outcome === "unreachable" && !paced.due && !paced.underWay) this.#sendLater(target, paced, due.event);
    };
    const waitMs = waitOf(paced);
    if (waitMs <= 0) void send();
    else due.timer = setTimeout(() => void send(), waitMs).unref();
  }

  /** What came while the signal was under way was put off by its whole pause. */
  #bringForward(target: string, paced: Paced): void {
    if (!paced.due) return;
    clearTimeout(paced.due.timer);
    this.#sendLater(target, paced, paced.due.event);
  }
}

/** Milliseconds until the next signal may be sent. A clock may be set back. */
function waitOf({ sentAtMs, pauseMs }: Paced): number {
  const nowMs = Date.now();
  return endOfPauseMs(sentAtMs + pauseMs, nowMs, pauseMs) - nowMs;
}

/** Of signals, in the order in which they came. */
export interface Turns {
  readonly tooManyWait: boolean;
  /** False: others wait, or none may leave now. */
  take(): boolean;
  wait(): Promise<void>;
  /** Of one that was taken or waited for: its signal is answered. */
  end(): void;
}

const AT_ONCE: Turns = { tooManyWait: false, take: () => true, wait: () => Promise.resolve(), end: () => undefined };

/** Half of the signals a second that one worker process carries (`docs/sizing.md`), since it may have begun just now. */
const FIRST_PER_SECOND = 10;
const FEWEST_PER_SECOND = 2;
const MOST_PER_SECOND = 1_000;
/** As many as would leave within this time leave at once. */
const BURST_MS = 3_000;
/** What Temporal tells of a queue is some seconds old. */
const JUDGE_EVERY_MS = 5_000;
/** About to be taken. */
const SOON_MS = 250;
const LONGEST_BEHIND_MS = 2_000;
const FASTER = 1.1;
const SLOWER = 0.9;

interface PacedTurnsOptions {
  /** For how long a workflow task waits for the workers, in milliseconds; undefined where that is not known. */
  behindMs: () => Promise<number | undefined>;
  /** Default 200. */
  maxInFlight?: number | undefined;
  /** Default 10,000. */
  maxWaiting?: number | undefined;
}

/**
 * Tills need not wait behind the callbacks of an authority that is back after an outage, and answers thousands of
 * documents at once: Temporal gives workers the oldest task first.
 *
 * Ten leave a second at first, and while more come, a tenth more after each five seconds in which the workers kept up,
 * and a tenth less after each in which a task waited for more than two seconds. After a quiet time it begins anew.
 */
export class PacedTurns implements Turns {
  readonly #behindMs: PacedTurnsOptions["behindMs"];
  readonly #maxInFlight: number;
  readonly #maxWaiting: number;
  #perSecond = FIRST_PER_SECOND;
  #inFlight = 0;
  /** When one more may leave. */
  #nextAtMs = 0;
  #judgedAtMs = 0;
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ behindMs, maxInFlight = 200, maxWaiting = 10_000 }: PacedTurnsOptions) {
    this.#behindMs = behindMs;
    this.#maxInFlight = maxInFlight;
    this.#maxWaiting = maxWaiting;
  }

  get tooManyWait(): boolean {
    return this.#waiting.size >= this.#maxWaiting;
  }

  take(): boolean {
    if (this.#waiting.size > 0 || !this.#mayLeave()) return false;
    this.#leave();
    return true;
  }

  async wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      this.#letGo();
    });
  }

  end(): void {
    this.#inFlight -= 1;
    this.#letGo();
  }

  #mayLeave(): boolean {
    const nowMs = Date.now();
    if (this.#nextAtMs <= nowMs - BURST_MS) {
      this.#perSecond = FIRST_PER_SECOND;
      this.#nextAtMs = nowMs - BURST_MS + 1_000 / FIRST_PER_SECOND;
      this.#judgedAtMs = nowMs;
    }
    // A clock may be set back.
    this.#nextAtMs = Math.min(this.#nextAtMs, nowMs + 1_000 / this.#perSecond);
    return this.#inFlight < this.#maxInFlight && this.#nextAtMs <= nowMs;
  }

  #leave(): void {
    this.#inFlight += 1;
    this.#nextAtMs += 1_000 / this.#perSecond;
  }

  #letGo(): void {
    for (const go of this.#waiting) {
      if (!this.#mayLeave()) break;
      this.#waiting.delete(go);
      this.#leave();
      go();
    }
    if (this.#waiting.size === 0) return;
    void this.#judge();
    clearTimeout(this.#timer);
    // The end of one of them lets the next go.
    if (this.#inFlight >= this.#maxInFlight) return;
    this.#timer = setTimeout(() => this.#letGo(), Math.max(1, this.#nextAtMs - Date.now())).unref();
  }

  async #judge(): Promise<void> {
    const nowMs = Date.now();
    if (nowMs < endOfPauseMs(this.#judgedAtMs + JUDGE_EVERY_MS, nowMs, JUDGE_EVERY_MS)) return;
    this.#judgedAtMs = nowMs;
    const behindMs = await this.#behindMs();
    if (behindMs === undefined) return;
    if (behindMs < SOON_MS) this.#perSecond = Math.min(MOST_PER_SECOND, this.#perSecond * FASTER);
    if (behindMs > LONGEST_BEHIND_MS) this.#perSecond = Math.max(FEWEST_PER_SECOND, this.#perSecond * SLOWER);
  }
}
