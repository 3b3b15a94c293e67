import { ActivityFailure, CancellationScope, condition, patched, sleep, workflowInfo } from "@temporalio/workflow";

import type { CallTarget, SaveRecordRequest } from "../../src/contract/index.ts";
import { atOnce, ledger } from "../proxies.ts";
import type { Run } from "../run/run.ts";
import { type Asked, recordOf, worthKeeping } from "./record-of.ts";

/**
 * Keeps what is known of the run's document in the ledger, after each change that is worth it, one record at a time. Nothing waits for it
 * but the end of the run: while the ledger is away, changes gather for the record that is written once it is back.
 *
 * A local activity costs one event. But the order in which it and a cancelled activity come back within one workflow task is not the same
 * in a replay. So nothing follows from its coming back where something was cancelled: the next record is begun in another workflow task, or
 * at the end of the run, when nothing else goes on.
 */
export class RecordKeeping {
  readonly #run: Run;
  readonly #target: CallTarget;
  readonly #asked: Asked;
  /** Whether the run keeps records from its start on; else it began under a release that kept none. */
  readonly #fromStart: boolean;
  #kept: string | undefined;
  #sequence = 0;
  #looking = false;
  #saving = false;
  #lookingAgain = false;
  /** At the end of the run what is left goes through the queue. */
  #finishing = false;
  #draining = false;
  /** A ledger that was away is waited for from then on, since a moment would not be enough. */
  #away = false;
  /** The length of the history at the workflow task in which the last local activity was begun. */
  #lastTask: number | undefined;

  constructor(run: Run, target: CallTarget, asked: Asked, fromStart: boolean) {
    this.#run = run;
    this.#target = target;
    this.#asked = asked;
    this.#fromStart = fromStart;
  }

  /** Everything that is worth it is kept. */
  get upToDate(): boolean {
    return this.idle && worthKeeping(this.#run) === this.#kept;
  }

  get idle(): boolean {
    return !this.#looking && !this.#saving && !this.#finishing;
  }

  /** To be called whenever something may have changed. */
  look(): void {
    if (this.#looking || this.#saving || worthKeeping(this.#run) === this.#kept) return;
    this.#looking = true;
    beside(async () => {
      await endOfTurn();
      this.#looking = false;
      if (this.#draining || !this.#isDue()) return;
      if (this.#lastTask === workflowInfo().historyLength) await this.#lookAgain();
      else if (this.#away) await this.#saveThroughQueue();
      else await this.#saveAtOnce();
    });
  }

  /** In another workflow task, which nothing else may bring for days. */
  async #lookAgain(): Promise<void> {
    if (this.#lookingAgain) return;
    this.#lookingAgain = true;
    await sleep("1 second");
    this.#lookingAgain = false;
    this.look();
  }

  /** Keeps what is left, however long that takes. To be called where nothing else goes on. */
  finish(): void {
    if (this.#finishing) return;
    this.#finishing = true;
    beside(async () => {
      await condition(() => !this.#looking && !this.#saving);
      this.#draining = true;
      while (this.#isDue()) await this.#saveThroughQueue();
      this.#draining = false;
      this.#finishing = false;
    });
  }

  #isDue(): boolean {
    const worth = worthKeeping(this.#run);
    if (this.#saving || worth === this.#kept) return false;
    if (this.#fromStart || patched("records")) return true;
    this.#kept = worth;
    return false;
  }

  async #saveAtOnce(): Promise<void> {
    const { request, kept } = this.#begin();
    this.#lastTask = workflowInfo().historyLength;
    const saved = await savedNow(request);
    this.#saving = false;
    if (saved) {
      kept();
      return;
    }
    this.#away = true;
    if (this.#run.endedEarlyIn !== this.#lastTask && !this.#finishing) await this.#saveThroughQueue();
  }

  async #saveThroughQueue(): Promise<void> {
    const { request, kept } = this.#begin();
    await ledger.saveRecord(request);
    this.#saving = false;
    this.#away = false;
    kept();
    this.look();
  }

  #begin(): { request: SaveRecordRequest; kept: () => void } {
    this.#saving = true;
    const worth = worthKeeping(this.#run);
    const changes = [...this.#run.attentionChanges];
    const startedAtMs = workflowInfo().startTime.getTime();
    const record = recordOf(this.#run, this.#asked, (this.#sequence += 1), startedAtMs);
    const { connection, businessId } = this.#target;
    return {
      request: { connection, businessId, record },
      kept: () => {
        this.#kept = worth;
        this.#run.attentionChanges.splice(0, changes.length);
      },
    };
  }
}

/** A cancellation of the run is no reason to keep nothing of it. */
function beside(work: () => Promise<void>): void {
  void CancellationScope.nonCancellable(work);
}

/** Once everything that comes of the same events has happened: it is kept together. */
async function endOfTurn(): Promise<void> {
  let asked = 0;
  await condition(() => (asked += 1) > 1);
}

/** It gives up within a moment; where it does, an activity of the queue takes over. */
async function savedNow(request: SaveRecordRequest): Promise<boolean> {
  try {
    return await atOnce.saveRecordNow(request);
  } catch (error) {
    if (error instanceof ActivityFailure) return false;
    throw error;
  }
}
