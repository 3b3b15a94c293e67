import { activityInfo } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";

import {
  type ConnectionProfile,
  type CreditNoteInput,
  fingerprintOf,
  nairobiDate,
  type ReadDocumentRequest,
  saleContent,
  type SaleInput,
  type ServiceTrouble,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import type { Ledger, UnderWayRecord } from "../../src/ledger/index.ts";
import type { ComplianceRuntime } from "../compliance/calls.ts";
import { currentWriter } from "../ledger/beside-calls.ts";
import { checkedCreditNote, checkedSale, type Served } from "./prepare.ts";

/** What a run was started with, and when (Unix milliseconds). */
export type StartOfRun = (run: {
  workflowId: string;
  runId: string;
}) => Promise<{ input: readonly unknown[]; startedAtMs: number }>;

/** How far a run is that waits for the answer to a call. */
type Progress = Pick<UnderWayRecord, "stage" | "numberTaken">;

/** Of a run whose document does not exist yet, by the call. */
const PROGRESS_WHILE: Readonly<Record<string, Progress>> = {
  readBranch: { stage: "resolving-items", numberTaken: false },
  readItems: { stage: "resolving-items", numberTaken: false },
  registerItem: { stage: "registering", numberTaken: false },
  createSale: { stage: "submitting", numberTaken: true },
  createCreditNote: { stage: "submitting", numberTaken: true },
};

/** Of a credit note that has yet to see the sale that it reverses. */
const CREDIT_NOTE_BEGUN: Progress = { stage: "submitting", numberTaken: false };

/** How long a call waits for the ledger to take the row. */
const LEDGER_WITHIN_MS = 1_000;

/** How many rows this process remembers to have kept: the later attempts of a call need not. */
const REMEMBERED = 10_000;

interface UnderWayContext {
  connections: ReadonlyMap<string, Served & { health: Pick<ComplianceRuntime["health"], "trouble"> }>;
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
 *
 * A sale that was issued elsewhere gets none: where it proves to be another one its run fails, and records nothing.
 */
export class UnderWay {
  readonly #context: UnderWayContext;
  readonly #kept = new Set<string>();

  constructor(context: UnderWayContext) {
    this.#context = context;
  }

  /** A sale is prepared. While the API is known to be away, its first call may wait for long until it is even tried. */
  async prepared(input: SaleInput, startedAtMs: number, connection: string): Promise<void> {
    if (!this.#isAway(connection)) return;
    const at: Progress = { stage: "resolving-items", numberTaken: false };
    await this.#keep(currentWriter().runId, () => Promise.resolve(this.#saleRow(input, startedAtMs, at)));
  }

  /** As {@link prepared}, a credit note. */
  async preparedCreditNote(input: CreditNoteInput, startedAtMs: number, connection: string): Promise<void> {
    if (!this.#isAway(connection)) return;
    const row = (): Row => this.#creditNoteRow(input, startedAtMs, CREDIT_NOTE_BEGUN);
    await this.#keep(currentWriter().runId, () => Promise.resolve(row()));
  }

  /**
   * The API has not taken a call.
   * @param answer what its activity has thrown, or returned
   * @param request what its activity was called with
   */
  async putOff(answer: unknown, request: unknown): Promise<void> {
    const { workflowExecution: run, workflowType, activityType, attempt } = activityInfo();
    const isCreditNote = workflowType === WORKFLOW_TYPES.creditNote;
    // Which document is read, only the run's input tells.
    const mayBegin = isCreditNote && activityType === "readDocument";
    const at = mayBegin ? CREDIT_NOTE_BEGUN : PROGRESS_WHILE[activityType];
    const kind = troubleIn(answer)?.kind;
    // One 429 belongs to a busy day.
    const isTrouble = kind === "away" || (kind === "rate-limited" && attempt > 1);
    if (!run || at === undefined || !isTrouble) return;
    await this.#keep(`${run.runId} ${at.stage} ${at.numberTaken}`, async () => {
      const { input, startedAtMs } = await this.#context.startOfRun(run);
      if (workflowType === WORKFLOW_TYPES.sale) return this.#saleRow(input[0] as SaleInput, startedAtMs, at);
      if (!isCreditNote) return undefined;
      const note = input[0] as CreditNoteInput;
      // It reads other documents too: its own, once it exists, and another one that reverses the sale.
      if (mayBegin && (request as ReadDocumentRequest).saleId !== note.saleId) return undefined;
      return this.#creditNoteRow(note, startedAtMs, at);
    });
  }

  #isAway(connection: string): boolean {
    return this.#context.connections.get(connection)?.health.trouble?.kind === "away";
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

  #saleRow(input: SaleInput, startedAtMs: number, at: Progress): Row | undefined {
    const { profile, sale } = checkedSale(this.#context.connections, input);
    if (sale.saleId !== undefined) return undefined;
    const { traderInvoiceNumber: number, saleDate: date = nairobiDate(startedAtMs) } = sale;
    const content = saleContent(sale, profile.businessId);
    const record = { type: "sale", number, ...at, startedAtMs, date, content } as const;
    return { profile, record: { ...record, fingerprint: fingerprintOf(content) } };
  }

  #creditNoteRow(input: CreditNoteInput, startedAtMs: number, at: Progress): Row {
    const { profile, note } = checkedCreditNote(this.#context.connections, input, startedAtMs);
    const { traderInvoiceNumber: number, returnDate: date, saleId: originalSaleId } = note;
    return { profile, record: { type: "credit_note", number, ...at, startedAtMs, date, originalSaleId } };
  }
}

/** What an activity says of the API: by a failure to be tried again, or by a result that puts the call off. */
function troubleIn(answer: unknown): ServiceTrouble | undefined {
  const said: unknown = answer instanceof ApplicationFailure ? answer.details?.[0] : answer;
  if (typeof said !== "object" || said === null || !("trouble" in said)) return undefined;
  return said.trouble as ServiceTrouble | undefined;
}
