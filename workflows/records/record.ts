import {
  asAnswered,
  type Attention,
  type DocumentRecord,
  jsonBytes,
  type PreparedSale,
  type RecordPart,
  type SaleContent,
  saleContent,
  type SaleFields,
  type StockMovement,
} from "../../src/contract/index.ts";
import { attentionKey } from "../operator/attention-list.ts";
import type { StateAfterAnswer, SaleState } from "../sale/state.ts";

/** What a record says of the request. It does not change while the run lasts. */
export type FixedPart = Pick<DocumentRecord, "date" | "content" | "originalSaleId">;

export function fixedPartOfSale(input: SaleFields, { sale, profile }: PreparedSale): FixedPart {
  // As the starter fingerprints it: a date that was filled in later is no part of it.
  const content: SaleContent = { ...saleContent(sale, profile.businessId), saleDate: input.saleDate ?? null };
  return { date: sale.saleDate, content };
}

/** @param assumed in place of what the run says now */
export function recordOf(
  run: SaleState,
  fixedPart: FixedPart,
  sequence: number,
  startedAtMs: number,
  assumed: StateAfterAnswer = {},
): DocumentRecord {
  const { document = run.document, movements = run.movements, stage = run.stage } = assumed;
  return {
    type: run.documentType,
    number: run.invoice,
    asOfMs: Date.now(),
    sequence,
    stage,
    startedAtMs,
    ...(run.refused && { failed: true }),
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
    run.refused,
    ended ? stage : "",
    document && [document.id, document.status, document.receipt?.cuInvoiceNo],
    movements.filter(({ state }) => state !== "planned" && state !== "sending").map(movementKey),
    attentionChangesEver,
    decisions.length,
  ]);
}

/**
 * Those that need a record at once. A cancellation, and a retry that says nothing beyond itself, are kept with what
 * comes of them: the sale is cancelled, or completes all the same.
 */
export function decisionsOnTheirOwn({ decisions }: Pick<SaleState, "decisions">): SaleState["decisions"] {
  return decisions.filter(({ update, note }) => update !== "cancel" && (update !== "retry" || note !== ""));
}

const LASTING_STAGES: readonly string[] = ["rejected", "completed", "credited", "cancelled"];

function movementKey({ referenceId, state, decision }: StockMovement): unknown[] {
  return [referenceId, state, decision?.atMs];
}

/** Of one part, far below the 256 KB from where on Temporal warns. */
const MOST_BYTES = 128 * 1024;

/**
 * Of a whole record that follows another one. A sale of hundreds of movements may need hundreds of records, and Temporal
 * ends a run whose history reaches 50 MB.
 */
const MOST_BYTES_AGAIN = 16 * 1024;

/** What the ledger has by this run's last record, each part of it as JSON. */
export interface SavedRecord {
  sequence: number;
  document: string;
  movements: ReadonlyMap<string, string>;
  attentions: ReadonlyMap<string, string>;
  decisions: number;
}

type Lists = Pick<RecordPart, "movements" | "attentions" | "attentionChanges" | "decisions">;

/**
 * The record in parts that fit a payload, to be saved one after the other: each builds on the one before it. A record
 * that fits is one part, with everything: the first one in a payload, a later one in far less. Of a larger one the parts
 * say what changed since the last record.
 * @param saved the last record, if the ledger has it; undefined: the parts say everything
 */
export function partsOf(record: DocumentRecord, saved: SavedRecord | undefined): RecordPart[] {
  const fullRecord = { ...record, document: asAnswered(record.document) };
  if (jsonBytes(fullRecord) <= (saved ? MOST_BYTES_AGAIN : MOST_BYTES)) return [fullRecord];
  const { content, document, movements, attentions, attentionChanges, decisions, ...head } = fullRecord;
  const now = savedFrom(record);
  const parts: RecordPart[] = [];
  let bytes = 0;
  const begin = (more: Pick<RecordPart, "document" | "content" | "attentionsOver">): RecordPart => {
    const since = parts.at(-1)?.sequence ?? saved?.sequence;
    const lists: Lists = { movements: [], attentions: [], attentionChanges: [], decisions: [] };
    const part: RecordPart = { ...head, sequence: head.sequence + parts.length, since, ...lists, ...more };
    parts.push(part);
    bytes = jsonBytes(part);
    return part;
  };
  const attentionsOver = [...(saved?.attentions ?? [])].flatMap(([key, json]) => {
    const { code, subject } = JSON.parse(json) as Attention;
    return now.attentions.has(key) ? [] : [{ code, subject }];
  });
  let last = begin({
    document: saved?.document === now.document ? "unchanged" : document,
    ...(!saved && content && { content }),
    ...(attentionsOver.length > 0 && { attentionsOver }),
  });
  const add = <Name extends keyof Lists>(name: Name, one: Lists[Name][number]): void => {
    const size = jsonBytes(one) + 1;
    if (bytes + size > MOST_BYTES) last = begin({ document: "unchanged" });
    // A copy: the original may change before its part is saved.
    const list: unknown[] = last[name];
    list.push(JSON.parse(JSON.stringify(one)));
    bytes += size;
  };
  for (const change of attentionChanges) add("attentionChanges", change);
  for (const decision of decisions.slice(saved?.decisions)) add("decisions", decision);
  for (const one of attentions)
    if (saved?.attentions.get(keyOf(one)) !== now.attentions.get(keyOf(one))) add("attentions", one);
  for (const one of movements)
    if (saved?.movements.get(one.referenceId) !== now.movements.get(one.referenceId)) add("movements", one);
  return parts.map((part) => (part === last ? part : { ...part, incomplete: true as const }));
}

/** What the ledger has once all parts of the record are saved. */
export function savedFrom({ sequence, document, movements, attentions, decisions }: DocumentRecord): SavedRecord {
  return {
    sequence,
    document: JSON.stringify(asAnswered(document)),
    movements: new Map(movements.map((one) => [one.referenceId, JSON.stringify(one)])),
    attentions: new Map(attentions.map((one) => [keyOf(one), JSON.stringify(one)])),
    decisions: decisions.length,
  };
}

function keyOf({ code, subject }: Attention): string {
  return attentionKey(code, subject);
}
