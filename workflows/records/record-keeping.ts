import { CancellationScope, condition, workflowInfo } from "@temporalio/workflow";

import type { CallTarget, DocumentRecord, StockMovement } from "../../src/contract/index.ts";
import { ledger } from "../proxies.ts";
import { endOfTurn } from "../run/end-of-turn.ts";
import type { Run } from "../run/run.ts";
import { type Asked, recordOf, worthKeeping } from "./record-of.ts";

/** A larger sale's record is too much to go with a movement. */
const MOST_LINES = 100;

/**
 * Keeps what is known of the run's document in the ledger, after each change that is worth it, one record at a time. Nothing waits for it
 * but the end of the run: while the ledger is away, changes gather for the record that is written once it is back.
 */
export class RecordKeeping {
  readonly #run: Run;
  readonly #target: CallTarget;
  readonly #asked: Asked;
  /** How long a record is put off for a movement that was sent, which may queue for hours. */
  readonly #withinMs: number;
  #kept: string | undefined;
  #sequence = 0;
  #saving = false;
  /** What will be kept with the answer to a movement. */
  #beside: string | undefined;

  constructor(run: Run, target: CallTarget, asked: Asked, withinMs: number) {
    this.#run = run;
    this.#target = target;
    this.#asked = asked;
    this.#withinMs = withinMs;
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

  /**
   * The run's first record, for the activity of its only movement to keep with the answer: as it will be once the movement is applied.
   * Undefined where it is better kept by itself.
   */
  beside(movement: StockMovement): DocumentRecord | undefined {
    const run = this.#run;
    const { movements, attentions, attentionChanges, decisions, document } = run;
    const alone = movements.every((one) => one === movement || one.state === "applied");
    const quiet = attentions.length === 0 && attentionChanges.length === 0 && decisions.length === 0;
    if (this.#kept !== undefined || !alone || !quiet || !document || document.lines.length > MOST_LINES)
      return undefined;
    const told = movements.map((one) => (one === movement ? { ...one, state: "applied" as const } : one));
    this.#beside = worthKeeping(run, told);
    return recordOf(run, this.#asked, (this.#sequence += 1), workflowInfo().startTime.getTime(), told);
  }

  /** The record that went with a movement is kept. A later one may have been written over it. */
  keptBeside(): void {
    this.#kept = this.#beside ?? this.#kept;
  }

  async #save(): Promise<void> {
    await endOfTurn();
    await this.#movementsAnswered();
    const worth = worthKeeping(this.#run);
    if (worth === this.#kept) {
      this.#saving = false;
      return;
    }
    this.#beside = undefined;
    const changes = this.#run.attentionChanges.length;
    const startedAtMs = workflowInfo().startTime.getTime();
    const record = recordOf(this.#run, this.#asked, (this.#sequence += 1), startedAtMs);
    const { connection, businessId } = this.#target;
    await ledger.saveRecord({ connection, businessId, record });
    this.#run.attentionChanges.splice(0, changes);
    this.#kept = worth;
    this.#saving = false;
    this.look();
  }

  /** A movement that has just left is answered within a call's time, and kept together with its document; one that queues is not. */
  async #movementsAnswered(): Promise<void> {
    const run = this.#run;
    const answered = (): boolean => underWay(run).length === 0 || run.attentions.length > 0;
    if (answered()) return;
    const sentAtMs = Math.max(...underWay(run).map((movement) => movement.sentAtMs ?? 0));
    const leftMs = sentAtMs + this.#withinMs - Date.now();
    if (leftMs > 0) await condition(answered, leftMs);
  }
}

function underWay({ movements }: Run): Run["movements"] {
  return movements.filter(({ state }) => state === "sending");
}
