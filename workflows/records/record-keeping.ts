import { CancellationScope, condition, workflowInfo } from "@temporalio/workflow";

import type { DocumentRecord, KeepLinesRequest, RecordPart, StockMovement } from "../../src/contract/index.ts";
import { isRefusal, BetweenTries } from "../calls/between-tries.ts";
import { park } from "../operator/attention-list.ts";
import { ledger } from "../proxies.ts";
import type { AsItWillBe, KeptRecords, SaleContext, SaleState } from "../sale/state.ts";
import { endOfTurn } from "../sdk/interceptors.ts";
import { type Asked, partsOf, recordOf, type Told, toldBy, worthKeeping } from "./record.ts";

/**
 * Keeps what is known of the run's document in the ledger, after each change that is worth it, one record at a time.
 * Nothing waits for it but the end of the run: while the ledger is away, changes gather for the record that is written
 * once it is back.
 */
export class RecordKeeping implements KeptRecords {
  readonly #run: SaleState;
  readonly #work: SaleContext;
  readonly #asked: Asked;
  /** How long a record is put off for a movement that was sent, which may queue for hours. */
  readonly #withinMs: number;
  #kept: string | undefined;
  #sequence = 0;
  #told: Told | undefined;
  /** Documents whose lines are being kept, or were given up, and whether they were found missing again meanwhile. */
  readonly #linesAskedFor = new Map<string, { again: boolean }>();
  #saving = false;
  /** A record is on its way to the ledger. */
  #telling = false;
  /** What the run will be once the answer is there with which its record will be kept. */
  #beside:
    | { as: AsItWillBe; worth: string | undefined; refund: SaleState["refund"]; movement?: StockMovement }
    | undefined;

  constructor(work: SaleContext, asked: Asked) {
    this.#run = work.run;
    this.#work = work;
    this.#asked = asked;
    this.#withinMs = work.profile.timings.callTimeoutMs;
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
   * The run's first record, for the activity of its only movement to keep with the answer: as it will be once the
   * movement is applied. Undefined where it is better kept by itself.
   */
  beside(movement: StockMovement): RecordPart | undefined {
    // A try that came back took it along for nothing.
    this.#beside = undefined;
    const { movements, document, stage } = this.#run;
    const alone = movements.every((one) => one === movement || one.state === "applied");
    if (this.#telling || this.#kept !== undefined || !alone || !document) return undefined;
    const told = movements.map((one) => (one === movement ? { ...one, state: "applied" as const } : one));
    // Nothing is left to be adjusted then.
    const as = { movements: told, stage: stage === "adjusting-stock" ? "awaiting-authority" : stage } as const;
    return this.#asItWillBe(as, movement);
  }

  /**
   * The record for whoever reads the document to keep with the answer that completes it. Undefined where it is better
   * kept by itself. The document is for the reader to put in.
   */
  besideDocument(saleId: string): RecordPart | undefined {
    const { workflow, document, movements, moreToCome, refund } = this.#run;
    const answered = movements.every(({ state }) => state === "applied" || state === "dropped");
    if (workflow !== "sale" || document?.id !== saleId || !answered || this.#saving) return undefined;
    // A record that reads as finished must not stand while anything is still to be done.
    if (moreToCome || refund) return undefined;
    const part = this.#asItWillBe({ stage: "completed" });
    return part && { ...part, document: null };
  }

  /**
   * The record that went with a call is kept. It counts for nothing where another one was written since, or something
   * else has changed.
   * @param answer what the run did not know when it gave the record out
   */
  keptBeside(answer: AsItWillBe = {}): void {
    const run = this.#run;
    const beside = this.#beside;
    if (!beside || beside.refund !== run.refund || worthKeeping(run, beside.as) !== beside.worth) return;
    this.#kept = worthKeeping(run, { ...beside.as, ...answer });
    // The next one builds on no record that was told before this one.
    this.#told = undefined;
  }

  #asItWillBe(as: AsItWillBe, movement?: StockMovement): RecordPart | undefined {
    const { attentions, attentionChanges, decisions, refund } = this.#run;
    if (attentions.length > 0 || attentionChanges.length > 0 || decisions.length > 0) return undefined;
    const [part, ...more] = partsOf(this.#next(as), undefined);
    if (!part || more.length > 0) return undefined;
    this.#sequence += 1;
    this.#beside = { as, worth: worthKeeping(this.#run, as), refund, ...(movement && { movement }) };
    return part;
  }

  async #save(): Promise<void> {
    await endOfTurn();
    await this.#movementsAnswered();
    if (worthKeeping(this.#run) === this.#kept) {
      this.#saving = false;
      return;
    }
    this.#beside = undefined;
    this.#telling = true;
    let worth: string | undefined;
    let changes = 0;
    let told: Told | undefined = this.#told;
    do {
      worth = worthKeeping(this.#run);
      changes = this.#run.attentionChanges.length;
      const record = this.#next();
      const now = toldBy(record);
      const isKept = await this.#tell(partsOf(record, told));
      told = isKept ? { ...now, sequence: this.#sequence } : undefined;
    } while (!told);
    this.#told = told;
    this.#run.attentionChanges.splice(0, changes);
    this.#kept = worth;
    this.#telling = false;
    this.#saving = false;
    this.look();
  }

  /** The record that follows, as the run is now. */
  #next(as?: AsItWillBe): DocumentRecord {
    return recordOf(this.#run, this.#asked, this.#sequence + 1, workflowInfo().startTime.getTime(), as);
  }

  /** One part after the other; false where the ledger does not have what they build on. */
  async #tell(parts: readonly RecordPart[]): Promise<boolean> {
    const { connection, businessId } = this.#work.target;
    for (const record of parts) {
      this.#sequence = record.sequence;
      const answer = await ledger.saveRecord({ connection, businessId, record });
      if (answer === "send-whole") return false;
      if (answer === "of-another") return true;
      if (answer === "lines-missing") this.#keepLines(record);
    }
    return true;
  }

  /**
   * The run ends only once they are there, or a person has given them up: then the ledger says that they are left out.
   */
  #keepLines(of: Pick<RecordPart, "type" | "number">): void {
    const saleId = this.#run.document?.id;
    if (saleId === undefined) return;
    const asked = this.#linesAskedFor.get(saleId);
    if (asked) {
      asked.again = true;
      return;
    }
    const now = { again: false };
    this.#linesAskedFor.set(saleId, now);
    const { type, number } = of;
    const keeping = keepLines(this.#work, { type, number, saleId }).then((kept) => {
      if (!kept) return;
      this.#linesAskedFor.delete(saleId);
      if (now.again) this.#keepLines(of);
    });
    this.#run.beforeTheEnd(keeping);
  }

  /**
   * A movement that has just left is answered within a call's time, and kept together with its document; one that
   * queues is not.
   */
  async #movementsAnswered(): Promise<void> {
    const run = this.#run;
    const answered = (): boolean => underWay(run).length === 0 || run.attentions.length > 0;
    // The activity that takes the record along has an answer soon, or comes back unsent. Its next try may not take it.
    const goesAlong = (): boolean => underWay(run).every((movement) => movement === this.#beside?.movement);
    if (!answered() && goesAlong()) await condition(() => answered() || !goesAlong());
    if (answered()) return;
    const sentAtMs = Math.max(...underWay(run).map((movement) => movement.sentAtMs ?? 0));
    const leftMs = sentAtMs + this.#withinMs - Date.now();
    if (leftMs > 0) await condition(answered, leftMs);
  }
}

function underWay({ movements }: SaleState): SaleState["movements"] {
  return movements.filter(({ state }) => state === "sending");
}

/**
 * Has the lines of a document kept that are too many for a payload: an activity reads them from the service into the
 * ledger.
 * @returns false where a person has given them up
 */
async function keepLines(
  { run, calls, target }: SaleContext,
  of: Pick<KeepLinesRequest, "type" | "number" | "saleId">,
): Promise<boolean> {
  const betweenTries = new BetweenTries(run);
  for (;;) {
    const result = await calls.background.read.keepLines({ ...target, ...of });
    if (isRefusal(result) && result.attention === "credentials") {
      await betweenTries.parkOnRefusal(result);
      continue;
    }
    betweenTries.clearRefusal();
    if (!isRefusal(result)) return true;
    const message = `The ledger keeps the document ${of.saleId} without its lines: ${result.message}`;
    const verdict = await park(run, { code: "unexpected-answer", subject: `lines of ${of.saleId}`, message });
    if (verdict === "acknowledged") return false;
  }
}
