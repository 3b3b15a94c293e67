import {
  type Attention,
  endedInWords,
  holdsUpDocument,
  MEANING,
  type MovementState,
  plainLine,
  type Receipt,
  type SaleDocument,
  type SaleOutcome,
} from "../../contract/index.ts";
import { parseInput } from "../../contract/schema/parse-input.ts";
import { refundRequestSchema } from "../../contract/schema/sale.ts";
import type { KnownCorrection, SaleKey, SaleState } from "../../starter/index.ts";
import { type CliContext, CommandFailedError } from "../context.ts";
import { resolvingCommands } from "../operate/operating-commands.ts";
import { type BusinessScope, scopeOf } from "../options.ts";
import { printResult } from "../output.ts";
import { readJson } from "../read-json.ts";
import { attentionLines, type CommandTarget, receiptLines, showCommand, totalText } from "./lines.ts";
import type { CreditFlags, RefundFlags } from "./register-sale.ts";
import { type Sales, withSales } from "./with-sales.ts";

export async function refundSale(context: CliContext, invoice: string, flags: RefundFlags): Promise<void> {
  const { reason, number, date: returnDate, restock, branch, wait: waitSeconds = 0 } = flags;
  const asked = { reason, traderInvoiceNumber: number, returnDate, restock, branch };
  const request = parseInput(refundRequestSchema, asked, "refund request");
  const outcome = await withSales(context, async ({ starter, keyOf, warn }) => {
    const key = keyOf(invoice, flags);
    const refunded = await starter.refund(key, request, { waitSeconds });
    warn(refunded.warnings, { ...key, sent: "the credit note was sent" });
    return refunded;
  });
  printResult(context, flags.json, outcome, refundText(invoice, number, showCommand(invoice, flags), outcome));
  const { stage, closed } = outcome;
  const isHeldUp = heldUpBy(outcome) !== undefined;
  if (stage !== "credited" && (isHeldUp || closed || isGivenUp(outcome))) throw new CommandFailedError("");
}

/** What is about a stock movement of the sale keeps no credit note from being issued. */
function heldUpBy({ attention, stockMovements }: SaleOutcome): Attention | undefined {
  return attention && holdsUpDocument(attention, stockMovements) ? attention : undefined;
}

/** One that was accepted, and is not begun yet, is still among what is known of the sale. */
function isGivenUp({ stage, refund }: SaleOutcome): boolean {
  return stage === "completed" && refund === undefined;
}

const UNDER_WAY: readonly MovementState[] = ["planned", "sending", "unknown"];

/**
 * What became of it, as a sentence, and the credit note once it is signed.
 * @param show the command that shows the sale
 */
function refundText(invoice: string, number: string, show: string, outcome: SaleOutcome): string {
  const { stage, creditNote, closed, refund, stockMovements } = outcome;
  const attention = heldUpBy(outcome);
  const note = creditNote?.traderInvoiceNumber ?? number;
  if (stage === "credited") {
    const lines = [`${invoice} is credited in full by ${note} (document ${creditNote?.id ?? "unknown"}).`];
    if (creditNote) lines.push(...bookedLines("Credit note", bookedOf(creditNote)));
    // The credit note is signed before its goods go back, and a caller who waits for it does not wait for them.
    const isOut = stockMovements.some(({ purpose, state }) => purpose === "restocked" && UNDER_WAY.includes(state));
    if (refund?.restock && isOut) lines.push(`Its goods are not back in stock yet. See ${show}`);
    return lines.join("\n");
  }
  if (closed) return `${invoice} is not refunded by ${note} yet: its workflow ${endedInWords(closed)}. See ${show}`;
  if (isGivenUp(outcome)) return `${invoice} is not refunded: its credit note ${note} was given up. See ${show}`;
  const goesOn = `The refund of ${invoice} by credit note ${note} is under way`;
  if (attention) return `${goesOn}, and needs an operator: ${attention.code}. See ${show}`;
  return `${goesOn}, and goes on by itself. See ${show}`;
}

export async function correctSale(
  context: CliContext,
  invoice: string,
  file: string,
  flags: CreditFlags,
): Promise<void> {
  const { reason, number: traderInvoiceNumber, date: returnDate, wait: waitSeconds = 0 } = flags;
  const replaceWith = await readJson(context, file);
  // What is wrong with it, the starter says field by field.
  const request = { reason, traderInvoiceNumber, returnDate, replaceWith } as never;
  const { correction, closed } = await withSales(context, async (sales) => {
    const { starter, keyOf, warn } = sales;
    const key = keyOf(invoice, flags);
    const begun = await starter.correct(key, request, { waitSeconds });
    warn(begun.warnings, { ...key, sent: "the correction goes on" });
    const state = await starter.getSale(key).catch(() => undefined);
    return { correction: await withDocuments(sales, key, begun, state), closed: state?.closed };
  });
  const target = { ...scopeOf(flags), invoice };
  const { stage, attentions, heldUp } = correction;
  const lines = attentions.flatMap((one) => attentionLines(one, { commands: resolvingCommands(one, target) }));
  printResult(context, flags.json, correction, [...correctionLines(correction, target), ...lines].join("\n"));
  const isEnded = closed !== undefined && stage !== "corrected";
  if (attentions.length > 0 || heldUp !== undefined || isEnded || stage === "cancelled" || stage === "credited")
    throw new CommandFailedError("");
}

interface BookedDocument {
  number: string;
  /** Tax-inclusive; negative on a credit note. */
  total: number;
  taxAmount: number;
  receipt: Receipt | null;
}

/** Without the receipt of the corrected sale, which stood beside the number of the sale that is corrected. */
interface ShownCorrection extends Omit<KnownCorrection, "receipt"> {
  documents: { creditNote?: BookedDocument; correctedSale?: BookedDocument };
}

/**
 * The correction with the documents of its credit note and of its corrected sale: it knows their numbers alone.
 * @param sale its state, where anybody could tell it
 */
export async function withDocuments(
  { getSale }: Sales,
  key: SaleKey & BusinessScope,
  { receipt: _ofCorrectedSale, ...correction }: KnownCorrection,
  sale: SaleState | undefined,
): Promise<ShownCorrection> {
  if (["preparing", "cancelled"].includes(correction.stage)) return { ...correction, documents: {} };
  // The correction stands, also while a document of it cannot be shown: its sale is not there yet, or nobody answers.
  const corrected = await getSale({ ...key, invoice: correction.correctedBy }).catch(() => undefined);
  const documents = {
    ...(sale?.creditNote && { creditNote: bookedOf(sale.creditNote) }),
    ...(corrected?.document && { correctedSale: bookedOf(corrected.document) }),
  };
  return { ...correction, documents };
}

function bookedOf({ traderInvoiceNumber: number, totals, receipt = null }: SaleDocument): BookedDocument {
  return { number, total: totals.total, taxAmount: totals.taxAmount, receipt };
}

export function correctionLines(correction: ShownCorrection, target: CommandTarget): string[] {
  const { stage, invoice, correctedBy, creditNote, waitingFor, heldUp, documents } = correction;
  const waits = waitingFor === "nothing" ? "" : `; waits for ${waitingFor}`;
  const lines = [`Correction of ${invoice} by ${correctedBy}, with the credit note ${creditNote}: ${stage}${waits}`];
  if (stage === "credited") lines.push("  No corrected sale was issued.");
  if (stage === "cancelled") lines.push("  Nothing was credited: the sale stands as it was.");
  lines.push(...bookedLines("Credit note", documents.creditNote));
  lines.push(...bookedLines("Corrected sale", documents.correctedSale));
  if (heldUp)
    lines.push(
      `  The corrected sale ${correctedBy} needs an operator: ${heldUp}. ${MEANING[heldUp]}.`,
      `    ${showCommand(correctedBy, target)}`,
    );
  return lines.map(plainLine);
}

function bookedLines(what: string, document: BookedDocument | undefined): string[] {
  if (!document) return [];
  const { number, receipt } = document;
  const receipts = receipt ? receiptLines(receipt) : ["not signed yet"];
  return [`  ${what} ${number}, ${totalText(document)}`, ...receipts.map((line) => `    ${line}`)];
}
