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
import { isAnyGivenBack } from "../stock/taken.ts";
import { storableText } from "../storable-text.ts";
import { movementsOf, type RecordContent } from "./columns.ts";
import {
  contentOfKept,
  documentKey,
  HAS_SIGNED,
  historyOf,
  isOfOlder,
  type Kept,
  lockKept,
  replaceAttentions,
  rewrite,
  type SaveAnswer,
  saveOver,
} from "./save.ts";

/**
 * `send-whole`: nothing was kept. `lines-missing`: all was, but for the document's lines. `goods-given-back`: all was, and
 * another run gave something back that the signed sale shows as sold.
 */
export type RecordGap = "send-whole" | "lines-missing" | "goods-given-back";

/**
 * Keeps what a workflow tells of its document: all of it, or what changed since the record that the same run sent
 * before.
 * @param givenBackKnown the workflow was told of goods that were given back
 */
export async function savePart(
  db: Queries,
  business: Business,
  part: RecordPart,
  writer: Writer,
  { givenBackKnown = false }: { givenBackKnown?: boolean | undefined } = {},
): Promise<SaveAnswer | RecordGap> {
  const kept = await lockKept(db, documentKey(business, part));
  const { told, write } = planPart(db, business, kept, part, writer);
  // Asked first: whoever writes holds the chain of the business. Of a sale that nobody has recorded yet no other run can
  // have given anything back.
  const isAsked = kept && told?.type === "sale" && HAS_SIGNED.includes(told.stage) && !givenBackKnown;
  const isGivenBack = isAsked && (await isAnyGivenBack(db, business, told));
  const answer = await write();
  return isGivenBack ? "goods-given-back" : answer;
}

interface PlannedPart {
  /** All that the workflow has told of its document, with this part; absent where that is not known here. */
  told?: Pick<RecordContent, "type" | "number" | "stage" | "movements">;
  write: () => Promise<SaveAnswer | Exclude<RecordGap, "goods-given-back">>;
}

function planPart(
  db: Queries,
  business: Business,
  kept: Kept | undefined,
  part: RecordPart,
  writer: Writer,
): PlannedPart {
  const { since, attentionsOver: _over, document, ...record } = part;
  if (since === undefined && document !== "unchanged" && !document?.linesLeftOut) {
    const told = { ...record, document };
    return { told, write: () => saveOver(db, business, kept, told, writer) };
  }
  const before = kept && contentOfKept(kept);
  const ofRun = kept?.run_id === storableText(writer.runId);
  if (since !== undefined && !(ofRun && kept.sequence === since)) {
    // A record that is older is so however often it is sent.
    const isBehind = before && !ofRun && isOfOlder(before, part);
    if (!kept || !before || !(isOver(kept, ofRun, part) || isBehind)) return { write: async () => "send-whole" };
    const changed: DocumentRecord = { ...record, document: null };
    const write = async () => {
      await appendEvents(db, business, historyOf(changed, writer));
      if (isBehind) await replaceAttentions(db, business, kept, before, onTopOf(before, changed, part).attentions);
      // Perhaps it is the very part whose answer was lost.
      const linesAreMissing = ofRun && before.document?.linesLeftOut;
      return linesAreMissing ? "lines-missing" : "older";
    };
    return { ...(ofRun && { told: before }), write };
  }
  const now = document === "unchanged" ? (before?.document ?? null) : document;
  const whole: DocumentRecord = { ...record, document: withKeptLines(now, before?.document) };
  const merged = before && since !== undefined ? onTopOf(before, whole, part) : whole;
  const write = async () => {
    const answer = await saveOver(db, business, kept, merged, writer);
    const isKept = answer === "saved" || answer === "unchanged";
    return isKept && whole.document?.linesLeftOut ? "lines-missing" : answer;
  };
  return { told: merged, write };
}

/** Whatever is kept stays, but for the lines: who sent the rest, and when, is not changed by them. */
export async function keepLines(
  db: Queries,
  business: Business,
  of: Pick<RecordPart, "type" | "number">,
  { id, lines }: SaleDocument,
): Promise<void> {
  const kept = await lockKept(db, documentKey(business, of));
  if (!kept) return;
  const content = contentOfKept(kept);
  const { document } = content;
  if (!document?.linesLeftOut || document.id !== storableText(id)) return;
  const { linesLeftOut: _leftOut, ...whole } = document;
  await rewrite(db, business, kept, { ...content, document: { ...whole, lines } });
}

/**
 * Whether the part has nothing to add to what is kept: it was sent before, a later state is kept, or the number is that
 * of another sale's credit note.
 */
function isOver(kept: Kept, ofRun: boolean, part: RecordPart): boolean {
  const keptMs = kept.as_of.getTime();
  if (ofRun && kept.sequence >= part.sequence) return true;
  const of = part.originalSaleId === undefined ? null : storableText(part.originalSaleId);
  if (part.type === "credit_note" && kept.original_document_id !== of)
    return kept.document_id !== null && part.document === null;
  return keptMs > part.asOfMs || (keptMs === part.asOfMs && kept.sequence > part.sequence);
}

function onTopOf(before: RecordContent, part: DocumentRecord, { attentionsOver = [] }: RecordPart): DocumentRecord {
  const over = new Set([...attentionsOver, ...part.attentions].map(aboutOf));
  const attentions = [...before.attentions.filter((one) => !over.has(aboutOf(one))), ...part.attentions];
  const rank = ({ code }: Attention): number => ATTENTION_CODES.indexOf(code);
  return {
    ...part,
    content: part.content ?? before.content,
    movements: movementsOf({ ...before, movements: [...before.movements, ...part.movements] }),
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
