import {
  ATTENTION_CODES,
  type Attention,
  type DocumentRecord,
  type RecordPart,
  type SaleDocument,
} from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import type { Business, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import { type DocumentKey, movementsOf, type RecordContent, whereDocument } from "./columns.ts";
import { historyOf, lockDocument, save, type SaveAnswer } from "./save.ts";

/** `send-whole`: nothing was kept. `lines-missing`: all was, but for the document's lines. */
export type RecordGap = "send-whole" | "lines-missing";

/** Keeps what a workflow tells of its document: all of it, or what changed since the record that the same run told before. */
export async function saveTold(
  db: Queries,
  business: Business,
  told: RecordPart,
  writer: Writer,
): Promise<SaveAnswer | RecordGap> {
  const { since, attentionsOver: _over, document, ...record } = told;
  if (since === undefined && document !== "unchanged" && !document?.linesLeftOut)
    return await save(db, business, { ...record, document }, writer);
  const key = keyOf(business, told);
  await lockDocument(db, key);
  const kept = await findKept(db, key);
  const ofRun = kept?.run_id === storableText(writer.runId);
  if (since !== undefined && !(ofRun && kept.sequence === since)) {
    if (!kept || !isOver(kept, ofRun, told)) return "send-whole";
    await appendEvents(db, business, historyOf({ ...record, document: null }, writer));
    // Perhaps it is the very part whose answer was lost.
    const linesAreMissing = ofRun && (JSON.parse(kept.content) as RecordContent).document?.linesLeftOut;
    return linesAreMissing ? "lines-missing" : "older";
  }
  const before = kept && (JSON.parse(kept.content) as RecordContent);
  const now = document === "unchanged" ? (before?.document ?? null) : document;
  const whole: DocumentRecord = { ...record, document: withKeptLines(now, before?.document) };
  const answer = await save(db, business, before && since !== undefined ? onTopOf(before, whole, told) : whole, writer);
  const isKept = answer === "saved" || answer === "unchanged";
  return isKept && whole.document?.linesLeftOut ? "lines-missing" : answer;
}

/** Whatever is kept stays, but for the lines: who told the rest, and when, is not changed by them. */
export async function keepLines(
  db: Queries,
  business: Business,
  of: Pick<RecordPart, "type" | "number">,
  { id, lines }: SaleDocument,
): Promise<void> {
  const key = keyOf(business, of);
  await lockDocument(db, key);
  const kept = await findKept(db, key);
  if (!kept) return;
  const content = JSON.parse(kept.content) as RecordContent;
  const { document } = content;
  if (!document?.linesLeftOut || document.id !== storableText(id)) return;
  const { linesLeftOut: _leftOut, ...whole } = document;
  const { as_of, sequence, workflow_id: workflowId, run_id: runId } = kept;
  const record = { ...content, document: { ...whole, lines }, asOfMs: as_of.getTime(), sequence };
  await save(db, business, { ...record, attentionChanges: [], decisions: [] }, { workflowId, runId });
}

interface Kept {
  as_of: Date;
  sequence: number;
  workflow_id: string;
  run_id: string;
  document_id: string | null;
  original_document_id: string | null;
  content: string;
}

function keyOf(business: Business, { type, number }: Pick<RecordPart, "type" | "number">): DocumentKey {
  return { ...businessColumns(business), type, number: storableText(number) };
}

async function findKept(db: Queries, key: DocumentKey): Promise<Kept | undefined> {
  const row = await db
    .selectFrom("documents")
    .select(["as_of", "sequence", "event_number", "workflow_id", "run_id", "document_id", "original_document_id"])
    .where(whereDocument(key))
    .executeTakeFirst();
  if (!row) return undefined;
  const { content } = await db
    .selectFrom("events")
    .select("content")
    .where("connection", "=", key.connection)
    .where("business_id", "=", key.business_id)
    .where("number", "=", row.event_number)
    .executeTakeFirstOrThrow();
  return { ...row, content };
}

/**
 * Whether the part has nothing to add to what is kept: it was told before, a later state is kept, or the number is that of another sale's
 * credit note.
 */
function isOver(kept: Kept, ofRun: boolean, told: RecordPart): boolean {
  const keptMs = kept.as_of.getTime();
  if (ofRun && kept.sequence >= told.sequence) return true;
  const of = told.originalSaleId === undefined ? null : storableText(told.originalSaleId);
  if (told.type === "credit_note" && kept.original_document_id !== of)
    return kept.document_id !== null && told.document === null;
  return keptMs > told.asOfMs || (keptMs === told.asOfMs && kept.sequence > told.sequence);
}

function onTopOf(before: RecordContent, told: DocumentRecord, { attentionsOver = [] }: RecordPart): DocumentRecord {
  const over = new Set([...attentionsOver, ...told.attentions].map(aboutOf));
  const attentions = [...before.attentions.filter((one) => !over.has(aboutOf(one))), ...told.attentions];
  const rank = ({ code }: Attention): number => ATTENTION_CODES.indexOf(code);
  return {
    ...told,
    content: told.content ?? before.content,
    movements: movementsOf({ ...before, movements: [...before.movements, ...told.movements] }),
    attentions: attentions.toSorted((a, b) => rank(a) - rank(b)),
  };
}

function aboutOf({ code, subject }: Pick<Attention, "code" | "subject">): string {
  return subject === undefined ? code : `${code} ${storableText(subject)}`;
}

/** The lines of a document do not change while it is submitted, and submitted again. */
function withKeptLines(document: SaleDocument | null, kept: SaleDocument | null | undefined): SaleDocument | null {
  if (!document?.linesLeftOut) return document;
  const { linesLeftOut, ...rest } = document;
  const same =
    kept?.id === storableText(document.id) &&
    kept.lines.length === linesLeftOut.count &&
    kept.totals.total === document.totals.total &&
    kept.totals.taxAmount === document.totals.taxAmount;
  return same ? { ...rest, lines: kept.lines } : document;
}
