import { ActivityFailure, CancellationScope, condition, patched, workflowInfo } from "@temporalio/workflow";

import type { CallTarget, SaveRecordRequest } from "../../src/contract/index.ts";
import { atOnce, ledger } from "../proxies.ts";
import type { Run } from "../run/run.ts";
import { type Asked, recordOf, worthKeeping } from "./record-of.ts";

/**
 * Keeps what is known of the run's document in the ledger, after each change that is worth it, one record at a time. Nothing waits for it
 * but the end of the run: while the ledger is away, changes gather for the record that is written once it is back.
 */
export class RecordKeeping {
  readonly #run: Run;
  readonly #target: CallTarget;
  readonly #asked: Asked;
  /** Whether the run keeps records from its start on; else it began under a release that kept none. */
  readonly #fromStart: boolean;
  #kept: string | undefined;
  #sequence = 0;
  #saving = false;

  constructor(run: Run, target: CallTarget, asked: Asked, fromStart: boolean) {
    this.#run = run;
    this.#target = target;
    this.#asked = asked;
    this.#fromStart = fromStart;
  }

  /** Everything that is worth it is kept. To be asked after a {@link look}. */
  get upToDate(): boolean {
    return !this.#saving;
  }

  /** To be called whenever something may have changed. */
  look(): void {
    if (this.#saving || worthKeeping(this.#run) === this.#kept) return;
    this.#saving = true;
    // A cancellation of the run is no reason to keep nothing of it.
    void CancellationScope.nonCancellable(() => this.#save());
  }

  async #save(): Promise<void> {
    await endOfTurn();
    // A movement that has just left is answered within a call's time, and kept together with its document.
    await condition(() => !underWay(this.#run) || this.#run.attentions.length > 0);
    const worth = worthKeeping(this.#run);
    if (this.#fromStart || patched("records")) {
      const changes = this.#run.attentionChanges.length;
      const startedAtMs = workflowInfo().startTime.getTime();
      const record = recordOf(this.#run, this.#asked, (this.#sequence += 1), startedAtMs);
      const { connection, businessId } = this.#target;
      const request = { connection, businessId, record };
      if (!(this.#plainEnd && (await savedNow(request)))) await ledger.saveRecord(request);
      this.#run.attentionChanges.splice(0, changes);
    }
    this.#kept = worth;
    this.#saving = false;
    this.look();
  }

  /**
   * A local activity is one event instead of six. Within one workflow task it comes back in another order than a cancelled activity
   * does, so it is for an end alone at which nothing is, or can be, cancelled beside it (docs/decisions/0009).
   */
  get #plainEnd(): boolean {
    const { stage, attentionChangesEver, cancelRequested, refundWindowClosed, refund, movements } = this.#run;
    const plain = attentionChangesEver === 0 && cancelRequested === undefined && !refundWindowClosed && !refund;
    return this.#fromStart && stage === "completed" && plain && movements.every(({ state }) => state === "applied");
  }
}

async function savedNow(request: SaveRecordRequest): Promise<boolean> {
  try {
    return await atOnce.saveRecordNow(request);
  } catch (error) {
    if (error instanceof ActivityFailure) return false;
    throw error;
  }
}

function underWay({ movements }: Run): boolean {
  return movements.some(({ state }) => state === "sending");
}

/** Once everything that comes of the same events has happened: it is kept together. */
async function endOfTurn(): Promise<void> {
  let asked = 0;
  await condition(() => (asked += 1) > 1);
}
