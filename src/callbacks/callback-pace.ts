import type { CallbackClient, SignalOutcome } from "./temporal-signaller.ts";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 24 * 60 * 60_000;
/** Those that every document gets anyway; more of them come from a sender in a loop, or a URL that leaked. */
const USUAL_SIGNALS = 4;

export interface PaceOptions {
  client: Pick<CallbackClient, "signalCallback" | "hasRoom">;
  /** Workflows that are remembered. Default 20,000. */
  remembered?: number;
}

/**
 * What became of a callback. `merged`: the next signal to its workflow, which is due, tells of it too. `full`: the
 * history of its workflow's run has no room, and polling is all that is left.
 */
export type Forwarded = SignalOutcome | "merged" | "full";

interface Paced {
  /** Signals so far, whether or not they arrived. */
  sent: number;
  nextAtMs: number;
  last: Forwarded | undefined;
  underWay: Promise<Forwarded> | undefined;
  /** Of the signal that is due. */
  due: { timer: NodeJS.Timeout; event: string | undefined } | undefined;
}

/**
 * Passes callbacks on to their workflows, no faster than a workflow can bear for as long as it runs.
 *
 * A callback URL does not expire, and each signal makes its workflow read the document, which takes some twenty of the
 * 51,200 events that Temporal gives a run. So the pause after each signal to one workflow is twice the one before: 1 s,
 * 2 s, 4 s, up to a day, which makes 17 signals on the first day and one a day from then on. A callback that comes
 * during a pause is not lost: at its end, one signal tells of all that came.
 *
 * All of this is known to this process alone. Several receivers, or one that restarts, each begin anew; therefore each
 * also asks Temporal whether the run has room, beyond the first few signals.
 */
export class CallbackPace {
  readonly #client: PaceOptions["client"];
  readonly #remembered: number;
  /** By last callback, the oldest first. */
  readonly #workflows = new Map<string, Paced>();

  constructor({ client, remembered = 20_000 }: PaceOptions) {
    this.#client = client;
    this.#remembered = remembered;
  }

  /** @param event for display only */
  async pass(workflowId: string, event: string | undefined): Promise<Forwarded> {
    const paced = this.#pacedOf(workflowId);
    if (!paced.underWay && Date.now() >= paced.nextAtMs) return await this.#send(workflowId, paced, event);
    // The sender comes again, so that the callback is safe even if this process ends.
    if (paced.last === "unreachable" && !paced.due && !paced.underWay) return "unreachable";
    if (paced.last === "full") return "full";
    if (paced.due) paced.due.event = event;
    else this.#sendLater(workflowId, paced, event);
    return "merged";
  }

  /** Passes on what is due. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.#workflows].map(async ([workflowId, paced]) => {
        await paced.underWay;
        await this.#sendIfDue(workflowId, paced);
      }),
    );
  }

  #pacedOf(workflowId: string): Paced {
    const known = this.#workflows.get(workflowId);
    const paced = known ?? { sent: 0, nextAtMs: 0, last: undefined, underWay: undefined, due: undefined };
    this.#workflows.delete(workflowId);
    this.#workflows.set(workflowId, paced);
    const oldest = this.#workflows.size > this.#remembered ? this.#workflows.entries().next().value : undefined;
    if (oldest) {
      this.#workflows.delete(oldest[0]);
      void this.#sendIfDue(...oldest);
    }
    return paced;
  }

  async #send(workflowId: string, paced: Paced, event: string | undefined): Promise<Forwarded> {
    clearTimeout(paced.due?.timer);
    paced.due = undefined;
    // Counted before it is known whether it arrives: one that seems lost may have.
    paced.nextAtMs = Date.now() + pauseAfter(paced.sent);
    paced.sent += 1;
    paced.underWay = this.#signal(workflowId, paced.sent > USUAL_SIGNALS, event);
    paced.last = await paced.underWay;
    paced.underWay = undefined;
    return paced.last;
  }

  async #signal(workflowId: string, unusual: boolean, event: string | undefined): Promise<Forwarded> {
    try {
      if (unusual && !(await this.#client.hasRoom(workflowId))) return "full";
      return await this.#client.signalCallback(workflowId, event === undefined ? {} : { event });
    } catch {
      return "unreachable";
    }
  }

  #sendLater(workflowId: string, paced: Paced, event: string | undefined): void {
    const send = async (): Promise<void> => {
      await paced.underWay;
      const latest = paced.due?.event;
      // Its sender was told that the callback was accepted, and does not come again.
      if ((await this.#send(workflowId, paced, latest)) === "unreachable") this.#sendLater(workflowId, paced, latest);
    };
    paced.due = { timer: setTimeout(() => void send(), Math.max(0, paced.nextAtMs - Date.now())).unref(), event };
  }

  async #sendIfDue(workflowId: string, paced: Paced): Promise<void> {
    if (paced.due) await this.#send(workflowId, paced, paced.due.event);
  }
}

function pauseAfter(signals: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** signals, LONGEST_PAUSE_MS);
}
