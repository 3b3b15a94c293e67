import { CancellationScope, condition, patched, TemporalFailure, workflowInfo } from "@temporalio/workflow";

import type { CallTarget, RecordsKept, SaveRecordRequest } from "../../src/contract/index.ts";
import { asBefore, noLocalActivities } from "../main-proxies.ts";
import { ledger } from "../proxies.ts";
import { endOfTurn } from "../run/end-of-turn.ts";
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
  readonly #withinMs: number | undefined;
  #kept: string | undefined;
  #sequence = 0;
  #saving = false;

  constructor(run: Run, target: CallTarget, asked: Asked, kept: RecordsKept) {
    this.#run = run;
    this.#target = target;
    this.#asked = asked;
    this.#fromStart = kept.records === true;
    this.#withinMs = kept.recordsWithinMs;
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
    await this.#movementsAnswered();
    const worth = worthKeeping(this.#run);
    if (this.#fromStart || patched("records")) {
      const changes = this.#run.attentionChanges.length;
      const startedAtMs = workflowInfo().startTime.getTime();
      const record = recordOf(this.#run, this.#asked, (this.#sequence += 1), startedAtMs);
      const { connection, businessId } = this.#target;
      const request = { connection, businessId, record };
      const savedAsBefore = this.#plainEnd && !noLocalActivities() && (await savedNow(request));
      if (!savedAsBefore) await ledger.saveRecord(request);
      this.#run.attentionChanges.splice(0, changes);
    }
    this.#kept = worth;
    this.#saving = false;
    this.look();
  }

  /** A movement that has just left is answered within a call's time, and kept together with its document; one that queues is not. */
  async #movementsAnswered(): Promise<void> {
    const run = this.#run;
    const answered = (): boolean => underWay(run).length === 0 || run.attentions.length > 0;
    if (this.#withinMs === undefined) {
      await condition(answered);
      return;
    }
    if (answered()) return;
    const sentAtMs = Math.max(...underWay(run).map((movement) => movement.sentAtMs ?? 0));
    const leftMs = sentAtMs + this.#withinMs - Date.now();
    if (leftMs > 0) await condition(answered, leftMs);
  }

  /** Where runs of up to release 0.3 kept their record by a local activity (docs/decisions/0009 and 0016). */
  get #plainEnd(): boolean {
    const { stage, attentionChangesEver, cancelRequested, refundWindowClosed, refund, movements } = this.#run;
    const plain = attentionChangesEver === 0 && cancelRequested === undefined && !refundWindowClosed && !refund;
    return this.#fromStart && stage === "completed" && plain && movements.every(({ state }) => state === "applied");
  }
}

/** Whatever keeps it from being saved now is left to the queue's activity. */
async function savedNow(request: SaveRecordRequest): Promise<boolean> {
  try {
    return await asBefore.saveRecordNow(request);
  } catch (error) {
    // One that ran out of its time comes back bare, and not as an ActivityFailure around its cause.
    if (error instanceof TemporalFailure) return false;
    throw error;
  }
}

function underWay({ movements }: Run): Run["movements"] {
  return movements.filter(({ state }) => state === "sending");
}
