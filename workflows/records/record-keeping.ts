import { CancellationScope, condition, sleep, workflowInfo } from "@temporalio/workflow";

import {
  areSettled,
  type DocumentRecord,
  type KeepLinesRequest,
  type RecordPart,
  type StockMovement,
} from "../../src/contract/index.ts";
import { growingPauseMs } from "../calls/activity-failures.ts";
import { callOrGiveUp } from "../calls/between-tries.ts";
import { ledger } from "../proxies.ts";
import type { StateAfterAnswer, KeptRecords, SaleContext, SaleState } from "../sale/state.ts";
import { endOfTurn } from "../sdk/interceptors.ts";
import {
  decisionsOnTheirOwn,
  type FixedPart,
  partsOf,
  recordOf,
  type SavedRecord,
  savedFrom,
  recordKey,
} from "./record.ts";

/**
 * Saves the record of the run's document in the ledger after each change of its {@link recordKey}, one record at a
 * time. Only the end of the run waits for it: while the ledger is away, changes gather for one record, which is written
 * once it is back.
 */
export class RecordKeeping implements KeptRecords {
  readonly #run: SaleState;
  readonly #context: SaleContext;
  readonly #fixedPart: FixedPart;
  #savedKey: string | undefined;
  #sequence = 0;
  #lastSaved: SavedRecord | undefined;
  /** Documents whose lines are being saved or were given up. */
  readonly #linesRequested = new Set<string>();
  #saveScheduled = false;
  /** Whether an activity is writing a record: no other one may take the sequence on meanwhile. */
  #writing = false;
  /** The record that the last call took along: what it assumes of the run, and what the run was like. */
  #sentWithCall:
    | { as: StateAfterAnswer; key: string | undefined; refund: SaleState["refund"]; movement?: StockMovement }
    | undefined;

  constructor(context: SaleContext, fixedPart: FixedPart) {
    this.#run = context.run;
    this.#context = context;
    this.#fixedPart = fixedPart;
  }

  get isSaved(): boolean {
    return !this.#saveScheduled;
  }

  saveIfChanged(): void {
    if (this.#saveScheduled || recordKey(this.#run) === this.#savedKey) return;
    this.#saveScheduled = true;
    // A cancelled run is recorded too.
    void CancellationScope.nonCancellable(() => this.#save());
  }

  /**
   * The run's first record, for the activity of its only movement to save with the answer. It shows the run as it will
   * be once the movement is applied.
   */
  recordForMovement(movement: StockMovement): RecordPart | undefined {
    // The record of an earlier try, which came back unsent, does not count.
    this.#sentWithCall = undefined;
    const { movements, document, stage } = this.#run;
    const alone = movements.every((one) => one === movement || one.state === "applied");
    if (this.#writing || this.#savedKey !== undefined || !alone || !document) return undefined;
    const expected = movements.map((one) => (one === movement ? { ...one, state: "applied" as const } : one));
    // With the only movement applied, the stock is adjusted.
    const as = { movements: expected, stage: stage === "adjusting-stock" ? "awaiting-authority" : stage } as const;
    return this.#recordToSendAlong(as, movement);
  }

  /**
   * The record for an activity that reads the document to save if its answer completes the document, which the activity
   * puts into the record.
   */
  recordForDocument(saleId: string): RecordPart | undefined {
    const { workflow, document, movements, moreToRecord, refund } = this.#run;
    const isOurs = workflow === "sale" && document?.id === saleId;
    if (!isOurs || !areSettled(movements) || this.#saveScheduled) return undefined;
    // While anything is still to be done, no record may say that the run is finished.
    if (moreToRecord || refund) return undefined;
    const part = this.#recordToSendAlong({ stage: "completed" });
    return part && { ...part, document: null };
  }

  /**
   * The record that went with a call is saved. It does not count as this run's latest where another one was written
   * meanwhile, or where the run has changed otherwise than the record assumed.
   * @param answer what the activity put into the record
   */
  savedWithCall(answer: StateAfterAnswer = {}): void {
    const run = this.#run;
    const sent = this.#sentWithCall;
    if (!sent || sent.refund !== run.refund || recordKey(run, sent.as) !== sent.key) return;
    this.#savedKey = recordKey(run, { ...sent.as, ...answer });
    // The next record is sent whole: it cannot build on one that was saved before this.
    this.#lastSaved = undefined;
  }

  #recordToSendAlong(as: StateAfterAnswer, movement?: StockMovement): RecordPart | undefined {
    const { attentions, attentionChanges, refund } = this.#run;
    const decisions = decisionsOnTheirOwn(this.#run);
    if (attentions.length > 0 || attentionChanges.length > 0 || decisions.length > 0) return undefined;
    const [part, ...more] = partsOf(this.#next(as), undefined);
    if (!part || more.length > 0) return undefined;
    this.#sequence += 1;
    this.#sentWithCall = { as, key: recordKey(this.#run, as), refund, ...(movement && { movement }) };
    return part;
  }

  async #save(): Promise<void> {
    await endOfTurn();
    await this.#movementsAnswered();
    if (recordKey(this.#run) === this.#savedKey) {
      this.#saveScheduled = false;
      return;
    }
    this.#sentWithCall = undefined;
    this.#writing = true;
    let key: string | undefined;
    let changes = 0;
    let saved: SavedRecord | undefined = this.#lastSaved;
    for (let tries = 0; ; tries++) {
      key = recordKey(this.#run);
      changes = this.#run.attentionChanges.length;
      const record = this.#next();
      const now = savedFrom(record);
      const isSaved = await this.#saveParts(partsOf(record, saved));
      saved = isSaved ? { ...now, sequence: this.#sequence } : undefined;
      if (saved) break;
      // Of a whole record nothing is missing: a ledger that says so again and again is not asked without a pause.
      const summary = "The ledger did not take the whole record: save it again after a pause";
      if (tries > 0) await sleep(growingPauseMs(tries - 1), { summary });
    }
    this.#lastSaved = saved;
    this.#run.attentionChanges.splice(0, changes);
    this.#savedKey = key;
    this.#writing = false;
    this.#saveScheduled = false;
    this.saveIfChanged();
  }

  /** The next record. @param as what is assumed to differ from the run as it is now */
  #next(as?: StateAfterAnswer): DocumentRecord {
    return recordOf(this.#run, this.#fixedPart, this.#sequence + 1, workflowInfo().startTime.getTime(), as);
  }

  /** Saves one part after the other. False where the ledger does not have the record that they build on. */
  async #saveParts(parts: readonly RecordPart[]): Promise<boolean> {
    const { connection, businessId } = this.#context.target;
    for (const record of parts) {
      this.#sequence = record.sequence;
      const request = { connection, businessId, record };
      let answer = await ledger.saveRecord("Save the record in the ledger", request);
      if (answer === "goods-given-back") {
        this.#run.onGivenBack?.();
        const known = { ...request, givenBackKnown: true } as const;
        answer = await ledger.saveRecord("Save the record of goods that were given back", known);
      }
      if (answer === "send-whole") return false;
      if (answer === "of-another") return true;
      if (answer === "lines-missing") this.#keepLines(record);
    }
    return true;
  }

  /**
   * Has the document's lines saved. The run ends only once they are, or an operator has given them up: then the record
   * says that they are left out.
   */
  #keepLines(of: Pick<RecordPart, "type" | "number">): void {
    const saleId = this.#run.document?.id;
    if (saleId === undefined || this.#linesRequested.has(saleId)) return;
    this.#linesRequested.add(saleId);
    const { type, number } = of;
    const keeping = keepLines(this.#context, { type, number, saleId }).then((kept) => {
      if (kept) this.#linesRequested.delete(saleId);
    });
    this.#run.beforeTheEnd(keeping);
  }

  /**
   * Waits for the answers of movements that are being sent, so that one record shows them and their document. It waits
   * for the time of one call only, since a movement may queue for hours. What an operator is asked is shown at once.
   */
  async #movementsAnswered(): Promise<void> {
    const run = this.#run;
    const answered = (): boolean => beingSent(run).length === 0 || run.attentionChanges.length > 0;
    // An activity that took the record along answers soon, or comes back unsent; another try may go without the record.
    const sentWithRecord = (): boolean => beingSent(run).every((movement) => movement === this.#sentWithCall?.movement);
    if (!answered() && sentWithRecord()) await condition(() => answered() || !sentWithRecord());
    if (answered()) return;
    const sentAtMs = Math.max(...beingSent(run).map((movement) => movement.sentAtMs ?? 0));
    const leftMs = sentAtMs + this.#context.profile.timings.callTimeoutMs - Date.now();
    if (leftMs > 0) await condition(answered, leftMs, { summary: "The record waits for the answers of movements" });
  }
}

function beingSent({ movements }: SaleState): SaleState["movements"] {
  return movements.filter(({ state }) => state === "sending");
}

/**
 * Has the lines of a document saved that are too many for a payload: an activity reads them from the service into the
 * ledger.
 * @returns false where an operator has given them up
 */
async function keepLines(
  { run, calls, target }: SaleContext,
  of: Pick<KeepLinesRequest, "type" | "number" | "saleId">,
): Promise<boolean> {
  const asked = { ...target, ...of };
  const kept = await callOrGiveUp(
    run,
    () => calls.background.read.keepLines("Read the lines of the document into the ledger", asked),
    ({ message }) => ({
      code: "unexpected-answer",
      subject: `lines of ${of.saleId}`,
      message: `The ledger keeps the document ${of.saleId} without its lines: ${message}`,
    }),
  );
  return kept !== undefined;
}
