import { isCorrectionLeft, type KeptCorrection, type RunNote } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Business, NewEvent, Writer } from "../events/chain.ts";
import { storableText } from "../storable-text.ts";
import {
  changeRow,
  insertOrLock,
  isClaimed,
  isSigned,
  lockKept,
  openedContent,
  type OpenedRecord,
  type Opening,
  type RowContent,
} from "./row.ts";

/** The row of a corrected sale, before its own workflow begins. */
export type ReservedRecord = OpenedRecord & { replaces: string };

/** Who has the number that was to be reserved, and how that stands. */
export type NumberHolder = Pick<RowContent, "stage" | "fingerprint" | "replaces" | "run">;

/**
 * Reserves the number of a corrected sale by opening its row, which names the sale that it replaces. A sale with the
 * same content that is on its way already counts as the corrected one. To be repeated freely.
 * @returns who has the number, if it stays as it is
 */
export async function reserve(
  db: Queries,
  business: Business,
  record: ReservedRecord,
  { writer, askedAtMs }: Opening,
): Promise<NumberHolder | undefined> {
  const content = openedContent(record, writer);
  const times = { as_of: new Date(askedAtMs) };
  const kept = await insertOrLock(db, business, content, writer, times.as_of);
  if (!kept) return undefined;
  const known = kept.content;
  const isOwn = known.replaces !== undefined && storableText(known.replaces) === storableText(record.replaces);
  // An attempt that comes late: what it reserved is carried on by now, or released.
  if (isOwn && kept.as_of > times.as_of) return undefined;
  const isTaken = known.document !== null || known.numberTaken || isClaimed(kept.claim);
  const isGivenUp = known.stage === "cancelled" || known.failed === true;
  const isBegun = !(isOwn && known.run.workflowId === writer.workflowId);
  if (!isTaken && (isGivenUp || !isBegun)) {
    await changeRow(db, business, kept, content, writer, { times: { ...times, sequence: 0 } });
    return undefined;
  }
  if (known.fingerprint !== record.fingerprint || isGivenUp || (known.replaces !== undefined && !isOwn)) return known;
  if (known.stage === "crediting" || known.stage === "credited") return known;
  if (isOwn) return undefined;
  if (known.document && isSigned(known.document)) return known;
  await changeRow(db, business, kept, { ...known, replaces: record.replaces }, writer);
  return undefined;
}

/**
 * The correction was refused, or given up: if no workflow of its own has begun, the row stands as that of a sale that
 * was given up, and its number is free again. To be repeated freely.
 * @param askedAtMs when it was asked for: an attempt that comes late must not end another reservation
 */
export async function release(
  db: Queries,
  business: Business,
  { number, replaces }: { number: string; replaces: string },
  { writer, askedAtMs }: Opening,
): Promise<void> {
  const kept = await lockKept(db, business, { type: "sale", number });
  const isOwn = kept?.content.replaces === replaces && kept.content.run.workflowId === writer.workflowId;
  if (!isOwn || kept.as_of.getTime() > askedAtMs) return;
  const times = { as_of: new Date(askedAtMs) };
  await changeRow(db, business, kept, { ...kept.content, stage: "cancelled" }, writer, { times });
}

/** A correction begins, or comes to its end. */
export function correctionEvents({ correction: known }: RowContent, told: RunNote, writer: Writer): NewEvent[] {
  const { correction, number: invoice } = told;
  if (!correction) return [];
  const { correctedBy, creditNote, stage } = correction;
  const event = (kind: string, of: KeptCorrection, state: string): NewEvent => {
    const content = { invoice, correctedBy: of.correctedBy, creditNote: of.creditNote, state };
    return { kind, subject: `correction of ${invoice}`, content, writer };
  };
  const begun = event("correction-begun", correction, "begun");
  const isKnown = known?.correctedBy === correctedBy && known.creditNote === creditNote;
  const isOpen = isKnown && isCorrectionLeft(known);
  // It was given up, and this one begun, before either could be told.
  const overtaken = known && !isKnown && isCorrectionLeft(known) ? [event("correction-ended", known, "cancelled")] : [];
  if (isCorrectionLeft(correction)) return isOpen ? [] : [...overtaken, begun];
  if (isKnown && known.stage === stage) return [];
  const ended = event("correction-ended", correction, stage);
  if (isOpen) return [ended];
  return stage === "cancelled" ? overtaken : [...overtaken, begun, ended];
}
