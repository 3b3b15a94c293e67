import { type Client, isGrpcServiceError, WorkflowNotFoundError } from "@temporalio/client";

import { aboutWorkflow, syncBillPaymentsWorkflowId } from "../contract/ids.ts";
import type { CallbackReceived } from "../contract/messages.ts";
import { MAIN_TASK_QUEUE, SIGNALS, WORKFLOW_TYPES } from "../contract/names.ts";

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
  /** Whether Temporal answers; resolves within a bounded time. */
  isReachable(): Promise<boolean>;
}

export const SIGNAL_MS = 5_000;
export const CHECK_MS = 2_000;

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
const DAY_MS = 24 * 60 * 60_000;

interface PaceOptions {
  /** @param event the latest that is told of; for display only */
  signal: (target: string, event: string | undefined) => Promise<SignalOutcome>;
  /** Between two signals of one target, at most. Default: a day. */
  longestPauseMs?: number;
  /** Workflows that are remembered. Default 20,000. */
  remembered?: number;
}

/** What became of a callback. `merged`: the next signal to its workflow, which is due, tells of it too. */
export type Forwarded = SignalOutcome | "merged";

interface Paced {
  /** Signals so far, without those that Temporal did not take. */
  sent: number;
  nextAtMs: number;
  last: Forwarded | undefined;
  underWay: Promise<Forwarded> | undefined;
  /** Of the signal that is due. */
  due: { timer: NodeJS.Timeout; event: string | undefined } | undefined;
}

/**
 * Passes callbacks on to their workflows, and webhooks to their synchronisation, no faster than a workflow can bear for
 * as long as it runs.
 *
 * A callback URL does not expire, and each signal makes its workflow read the document, which takes some twenty of the
 * 51,200 events that Temporal gives a run. So the pause after each signal to one workflow is twice the one before: 1 s,
 * 2 s, 4 s, up to a day, which makes 17 signals on the first day and one a day from then on. A callback that comes
 * during a pause is not lost: at its end, one signal tells of all that came. While Temporal is away the pause does not
 * grow beyond ten seconds. Several receivers, or one that restarts, each begin anew.
 */
export class SignalPace {
  readonly #signal: PaceOptions["signal"];
  readonly #longestPauseMs: number;
  readonly #remembered: number;
  /** By last callback, the oldest first. */
  readonly #targets = new Map<string, Paced>();

  constructor({ signal, longestPauseMs = DAY_MS, remembered = 20_000 }: PaceOptions) {
    this.#signal = signal;
    this.#longestPauseMs = longestPauseMs;
    this.#remembered = remembered;
  }

  /** @param event for display only */
  async pass(target: string, event: string | undefined): Promise<Forwarded> {
    const paced = this.#pacedOf(target);
    if (!paced.underWay && Date.now() >= paced.nextAtMs) return await this.#send(target, paced, event);
    // The sender comes again, so that the callback is safe even if this process ends.
    if (paced.last === "unreachable" && !paced.due && !paced.underWay) return "unreachable";
    if (paced.due) paced.due.event = event;
    else this.#sendLater(target, paced, event);
    return "merged";
  }

  /** Passes on what is due. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.#targets].map(async ([target, paced]) => {
        await paced.underWay;
        await this.#sendIfDue(target, paced);
      }),
    );
  }

  #pacedOf(target: string): Paced {
    const known = this.#targets.get(target);
    const paced = known ?? { sent: 0, nextAtMs: 0, last: undefined, underWay: undefined, due: undefined };
    this.#targets.delete(target);
    this.#targets.set(target, paced);
    const oldest = this.#targets.size > this.#remembered ? this.#targets.entries().next().value : undefined;
    if (oldest) {
      this.#targets.delete(oldest[0]);
      void this.#sendIfDue(...oldest);
    }
    return paced;
  }

  async #send(target: string, paced: Paced, event: string | undefined): Promise<Forwarded> {
    clearTimeout(paced.due?.timer);
    paced.due = undefined;
    const sentAtMs = Date.now();
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** paced.sent, this.#longestPauseMs);
    paced.nextAtMs = sentAtMs + pauseMs;
    paced.underWay = this.#signal(target, event).catch(() => "unreachable");
    paced.last = await paced.underWay;
    paced.underWay = undefined;
    if (paced.last !== "unreachable") paced.sent += 1;
    else {
      // One that seems lost may have arrived: it is not repeated at once either.
      paced.nextAtMs = sentAtMs + Math.min(pauseMs, LONGEST_PAUSE_AWAY_MS);
      this.#bringForward(target, paced);
    }
    return paced.last;
  }

  #sendLater(target: string, paced: Paced, event: string | undefined): void {
    const send = async (): Promise<void> => {
      await paced.underWay;
      const latest = paced.due?.event;
      const outcome = await this.#send(target, paced, latest);
      // Its sender was told that it was accepted, and does not come again. What came meanwhile tells of it too.
      if (outcome === "unreachable" && !paced.due && !paced.underWay) this.#sendLater(target, paced, latest);
    };
    paced.due = { timer: setTimeout(() => void send(), Math.max(0, paced.nextAtMs - Date.now())).unref(), event };
  }

  /** What came while the signal was under way was put off by its whole pause. */
  #bringForward(target: string, paced: Paced): void {
    if (!paced.due) return;
    clearTimeout(paced.due.timer);
    this.#sendLater(target, paced, paced.due.event);
  }

  async #sendIfDue(target: string, paced: Paced): Promise<void> {
    if (paced.due) await this.#send(target, paced, paced.due.event);
  }
}
