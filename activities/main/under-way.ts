import { activityInfo } from "@temporalio/activity";

import {
  type ConnectionProfile,
  type CreditNoteInput,
  type ReadDocumentRequest,
  type SaleInput,
  type ServiceTrouble,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import {
  type Ledger,
  type Progress,
  underWayCreditNote,
  type UnderWayRecord,
  underWaySale,
} from "../../src/ledger/index.ts";
import { currentWriter } from "../ledger/beside-calls.ts";
import { checkedCreditNote, checkedSale, type Served } from "./prepare.ts";

/** What a run was started with, and when (Unix milliseconds). */
export type StartOfRun = (run: {
  workflowId: string;
  runId: string;
}) => Promise<{ input: readonly unknown[]; startedAtMs: number }>;

type Reached = Omit<Progress, "startedAtMs">;

/** How far a run is whose document does not exist yet, by the call that it waits for. */
const REACHED_WHILE: Readonly<Record<string, Reached>> = {
  readBranch: { stage: "resolving-items", numberTaken: false },
  readItems: { stage: "resolving-items", numberTaken: false },
  registerItem: { stage: "registering", numberTaken: false },
  createSale: { stage: "submitting", numberTaken: true },
  createCreditNote: { stage: "submitting", numberTaken: true },
};

/** Of a credit note that has yet to see the sale that it reverses. */
const CREDIT_NOTE_BEGUN: Reached = { stage: "submitting", numberTaken: false };

/** How long a call waits for the ledger to take the row. */
const LEDGER_WITHIN_MS = 1_000;

/** How many rows this process remembers to have kept: the later attempts of a call need not. */
const REMEMBERED = 10_000;

interface UnderWayContext {
  connections: ReadonlyMap<string, Served>;
  ledger: { records: Pick<Ledger["records"], "saveUnderWay"> };
  startOfRun: StartOfRun;
}

interface Row {
  profile: ConnectionProfile;
  record: UnderWayRecord;
}

/**
 * Keeps in the ledger that a sale or a credit note is under way which the API does not take. Its workflow has nothing
 * to record until a call is answered, and reports would leave it out for as long as the API is away. Nothing fails, or
 * is tried again, for such a row, and while the API answers there is none.
 */
export class UnderWay {
  readonly #context: UnderWayContext;
  readonly #kept = new Set<string>();

  constructor(context: UnderWayContext) {
    this.#context = context;
  }

  /** A sale is prepared while the API is away: its first call may wait for long until it is even tried. */
  async prepared(input: SaleInput, startedAtMs: number): Promise<void> {
    const at = { stage: "resolving-items", numberTaken: false, startedAtMs } as const;
    await this.#keep(currentWriter().runId, () => Promise.resolve(this.#saleRow(input, at)));
  }

  /** As {@link prepared}, a credit note. */
  async preparedCreditNote(input: CreditNoteInput, startedAtMs: number): Promise<void> {
    const row = (): Row => this.#creditNoteRow(input, { ...CREDIT_NOTE_BEGUN, startedAtMs });
    await this.#keep(currentWriter().runId, () => Promise.resolve(row()));
  }

  /**
   * The API has not taken a call.
   * @param request what its activity was called with
   */
  async putOff({ kind }: Pick<ServiceTrouble, "kind">, request: unknown): Promise<void> {
    const { workflowExecution: run, workflowType, activityType, attempt } = activityInfo();
    const isCreditNote = workflowType === WORKFLOW_TYPES.creditNote;
    // Which document is read, only the run's input tells.
    const mayBegin = isCreditNote && activityType === "readDocument";
    const reached = mayBegin ? CREDIT_NOTE_BEGUN : REACHED_WHILE[activityType];
    // One 429 belongs to a busy day.
    const isTrouble = kind === "away" || (kind === "rate-limited" && attempt > 1);
    if (!run || reached === undefined || !isTrouble) return;
    await this.#keep(`${run.runId} ${reached.stage} ${reached.numberTaken}`, async () => {
      const { input, startedAtMs } = await this.#context.startOfRun(run);
      const at = { ...reached, startedAtMs };
      if (workflowType === WORKFLOW_TYPES.sale) return this.#saleRow(input[0] as SaleInput, at);
      if (!isCreditNote) return undefined;
      const note = input[0] as CreditNoteInput;
      // It reads other documents too: its own, once it exists, and another one that reverses the sale.
      if (mayBegin && (request as ReadDocumentRequest).saleId !== note.saleId) return undefined;
      return this.#creditNoteRow(note, at);
    });
  }

  /** Whatever goes wrong, the call goes on: where the row is not kept, the next attempt of a call tries again. */
  async #keep(key: string, rowOf: () => Promise<Row | undefined>): Promise<void> {
    if (this.#kept.has(key)) return;
    try {
      const row = await rowOf();
      if (row) {
        const { profile, record } = row;
        const { connection, businessId } = profile;
        await this.#context.ledger.records.saveUnderWay(
          { connection, businessId },
          record,
          currentWriter(),
          LEDGER_WITHIN_MS,
        );
      }
      this.#kept.add(key);
    } catch {
      return;
    }
    const [oldest] = this.#kept;
    if (this.#kept.size > REMEMBERED && oldest !== undefined) this.#kept.delete(oldest);
  }

  #saleRow(input: SaleInput, progress: Progress): Row | undefined {
    const { profile, sale } = checkedSale(this.#context.connections, input);
    const record = underWaySale(sale, profile.businessId, progress);
    return record && { profile, record };
  }

  #creditNoteRow(input: CreditNoteInput, progress: Progress): Row {
    const { profile, note } = checkedCreditNote(this.#context.connections, input, progress.startedAtMs);
    return { profile, record: underWayCreditNote(note, progress) };
  }
}
