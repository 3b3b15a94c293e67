import {
  asAnswered,
  type Attention,
  type CreditNoteInput,
  type DocumentRecord,
  jsonBytes,
  type PreparedCreditNote,
  type PreparedSale,
  type RecordPart,
  type SaleContent,
  saleContent,
  type SaleInput,
  type StockMovement,
} from "../../src/contract/index.ts";
import { attentionKey } from "../operator/attention-list.ts";
import type { StateAfterAnswer, SaleState } from "../sale/state.ts";

/** What a record says of the request. It does not change while the run lasts. */
export type FixedPart = Pick<DocumentRecord, "date" | "content" | "originalSaleId">;

export function fixedPartOfSale(input: SaleInput, { sale, profile }: PreparedSale): FixedPart {
  // As the starter fingerprints it: a date that was filled in later is no part of it.
  const content: SaleContent = { ...saleContent(sale, profile.businessId), saleDate: input.saleDate ?? null };
  return { date: sale.saleDate, content };
}

export function fixedPartOfCreditNote({ note }: PreparedCreditNote): FixedPart {
  const { returnDate, saleId }: Pick<CreditNoteInput, "saleId"> & { returnDate: string } = note;
  return { date: returnDate, originalSaleId: saleId };
}

/** @param assumedsumed in place of what the run says now */
export function recordOf(
  run: SaleState,
  fixedPart: FixedPart,
  sequence: number,
  startedAtMs: number,
  assumed: StateAfterAnswer = {},
): DocumentRecord {
  const { document = run.document, movements = run.movements, stage = run.stage } = assumed;
  return {
    type: run.workflow === "sale" ? "sale" : "credit_note",
    number: run.invoice,
    asOfMs: Date.now(),
    sequence,
    stage,
    startedAtMs,
    ...(run.failure && { failed: true }),
    numberTaken: run.numberTaken,
    ...fixedPart,
    ...(run.fingerprint !== undefined && { fingerprint: run.fingerprint }),
    document,
    ...(run.refund && { refund: run.refund }),
    // What a sale took is kept with the sale, also where its credit note had to ask about it.
    movements: movements.filter(({ purpose }) => run.workflow === "sale" || purpose !== "sold"),
    attentions: run.attentions,
    attentionChanges: run.attentionChanges,
    decisions: run.decisions,
  };
}

/**
 * A text that changes with whatever needs another record. Passing states do not: a movement that is being sent, a stage
 * on the way to a document. Undefined while nothing needs a record.
 * @param assumed in place of what the run says now
 */
export function recordKey(run: SaleState, assumed: StateAfterAnswer = {}): string | undefined {
  const { attentionChangesEver } = run;
  const decisions = decisionsOnTheirOwn(run);
  const { document = run.document, movements = run.movements, stage = run.stage } = assumed;
  const ended = LASTING_STAGES.includes(stage);
  if (!document && attentionChangesEver === 0 && decisions.length === 0 && !ended) return undefined;
  return JSON.stringify([
    run.failure !== undefined,
    ended ? stage : "",
    document && [document.id, document.status, document.receipt?.cuInvoiceNo],
    movements.filter(({ state }) => state !== "planned" && state !== "sending").map(movementKey),
    attentionChangesEver,
    decisions.length,
  ]);
}

/**
 * Those that need a record at once. A cancellation is kept with what comes of it: the sale is cancelled, or completes
 * all the same.
 */
export function decisionsOnTheirOwn({ decisions }: Pick<SaleState, "decisions">): SaleState["decisions"] {
  return decisions.filter(({ update }) => update !== "cancel");
}

const LASTING_STAGES: readonly string[] = ["rejected", "completed", "credited", "cancelled"];

function movementKey({ referenceId, state, decision }: StockMovement): unknown[] {
  return [referenceId, state, decision?.atMs];
}

/** Of one part, far below the 256 KB from where on Temporal warns. */
const MOST_BYTES = 128 * 1024;

/** What the ledger has by this run's last record, each part of it as JSON. */
export interface SavedRecord {
  sequence: number;
  document: string;
  movements: ReadonlyMap<string, string>;
  attentions: ReadonlyMap<string, { json: string; about: Pick<Attention, "code" | "subject"> }>;
  decisions: number;
}

/**
 * The record in parts that fit a payload, to be saved one after the other. A record that fits is one part, with
 * everything. Of a larger one the parts say what changed since the last record.
 * @param saved the last record, if the ledger has it; undefined: the parts say everything
 */
export function partsOf(record: DocumentRecord, saved: SavedRecord | undefined): RecordPart[] {
  const fullRecord = { ...record, document: asAnswered(record.document) };
  if (jsonBytes(fullRecord) <= MOST_BYTES) return [fullRecord];
  const { content, document, movements, attentions, attentionChanges, decisions, ...head } = fullRecord;
  const now = savedFrom(record);
  const endedAttentions = [...(saved?.attentions ?? [])].flatMap(([key, { about }]) =>
    now.attentions.has(key) ? [] : [about],
  );
  const parts = new Parts(head, saved?.sequence, {
    document: saved?.document === now.document ? "unchanged" : document,
    ...(!saved && content && { content }),
    ...(endedAttentions.length > 0 && { attentionsOver: endedAttentions }),
  });
  for (const change of attentionChanges) parts.add("attentionChanges", change);
  for (const decision of decisions.slice(saved?.decisions)) parts.add("decisions", decision);
  for (const attention of attentions) {
    const key = attentionKey(attention.code, attention.subject);
    if (saved?.attentions.get(key)?.json !== now.attentions.get(key)?.json) parts.add("attentions", attention);
  }
  for (const movement of movements) {
    const { referenceId } = movement;
    if (saved?.movements.get(referenceId) !== now.movements.get(referenceId)) parts.add("movements", movement);
  }
  return parts.all();
}

/** What the ledger has once all parts of the record are saved. */
export function savedFrom({ sequence, document, movements, attentions, decisions }: DocumentRecord): SavedRecord {
  return {
    sequence,
    document: JSON.stringify(asAnswered(document)),
    movements: new Map(movements.map((one) => [one.referenceId, JSON.stringify(one)])),
    attentions: new Map(
      attentions.map((one) => {
        const { code, subject } = one;
        return [attentionKey(code, subject), { json: JSON.stringify(one), about: { code, subject } }];
      }),
    ),
    decisions: decisions.length,
  };
}

type Lists = Pick<RecordPart, "movements" | "attentions" | "attentionChanges" | "decisions">;

/** Each builds on the one before it. */
class Parts {
  readonly #head: Omit<RecordPart, keyof Lists | "document">;
  readonly #parts: RecordPart[] = [];
  #since: number | undefined;
  #last: RecordPart;
  #bytes = 0;

  constructor(
    head: Omit<RecordPart, keyof Lists | "document">,
    since: number | undefined,
    first: Pick<RecordPart, "document" | "content" | "attentionsOver">,
  ) {
    this.#head = head;
    this.#since = since;
    this.#last = this.#begin(first);
  }

  add<Name extends keyof Lists>(name: Name, one: Lists[Name][number]): void {
    const size = jsonBytes(one) + 1;
    if (this.#bytes + size > MOST_BYTES) this.#last = this.#begin({ document: "unchanged" });
    // A copy: the original may change before its part is saved.
    const list: unknown[] = this.#last[name];
    list.push(JSON.parse(JSON.stringify(one)));
    this.#bytes += size;
  }

  all(): RecordPart[] {
    return this.#parts.map((part, index) =>
      index === this.#parts.length - 1 ? part : { ...part, incomplete: true as const },
    );
  }

  #begin(more: Pick<RecordPart, "document" | "content" | "attentionsOver">): RecordPart {
    const sequence = this.#head.sequence + this.#parts.length;
    const lists: Lists = { movements: [], attentions: [], attentionChanges: [], decisions: [] };
    const part: RecordPart = {
      ...this.#head,
      sequence,
      ...lists,
      ...more,
      ...(this.#since !== undefined && { since: this.#since }),
    };
    this.#since = sequence;
    this.#parts.push(part);
    this.#bytes = jsonBytes(part);
    return part;
  }
}
