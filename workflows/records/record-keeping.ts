import { ActivityFailure, CancellationScope, patched, workflowInfo } from "@temporalio/workflow";

import type { CallTarget } from "../../src/contract/index.ts";
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
  /** A ledger that was away is waited for from then on, since a moment would not be enough. */
  #wasAway = false;

  constructor(run: Run, target: CallTarget, asked: Asked, fromStart: boolean) {
    this.#run = run;
    this.#target = target;
    this.#asked = asked;
    this.#fromStart = fromStart;
  }

  /** Something is not kept yet. To be asked after a {@link look}. */
  get busy(): boolean {
    return this.#saving;
  }

  /** To be called whenever something may have changed. */
  look(): void {
    if (this.#saving || worthKeeping(this.#run) === this.#kept) return;
    this.#saving = true;
    // A cancellation of the run is no reason to keep nothing of it.
    void CancellationScope.nonCancellable(() => this.#save());
  }

  async #save(): Promise<void> {
    // The change may be one of several of this moment: they are kept together.
    await Promise.resolve();
    const saved = worthKeeping(this.#run);
    if (this.#fromStart || patched("records")) {
      const changes = this.#run.attentionChanges.length;
      const startedAtMs = workflowInfo().startTime.getTime();
      const record = recordOf(this.#run, this.#asked, (this.#sequence += 1), startedAtMs);
      await this.#send({ connection: this.#target.connection, businessId: this.#target.businessId, record });
      this.#run.attentionChanges.splice(0, changes);
    }
    this.#kept = saved;
    this.#saving = false;
    this.look();
  }

  /**
   * A local activity costs one event, and the ledger's milliseconds; it gives up within a moment. Where it does, an activity of the
   * queue goes on trying, beside everything else.
   */
  async #send(request: Parameters<typeof atOnce.saveRecordNow>[0]): Promise<void> {
    if (!this.#wasAway && (await savedNow(request))) return;
    this.#wasAway = true;
    await ledger.saveRecord(request);
    this.#wasAway = false;
  }
}

async function savedNow(request: Parameters<typeof atOnce.saveRecordNow>[0]): Promise<boolean> {
  try {
    return await atOnce.saveRecordNow(request);
  } catch (error) {
    if (error instanceof ActivityFailure) return false;
    throw error;
  }
}
