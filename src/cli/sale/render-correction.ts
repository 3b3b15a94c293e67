import { type Attention, MEANING, nairobiTime, plainLine } from "../../contract/index.ts";
import type { SaleKey, SaleState } from "../../starter/index.ts";
import { resolvingCommands } from "../operate/operating-commands.ts";
import type { BookedDocument, ShownCorrection } from "./correction-documents.ts";
import { receiptLines, totalText } from "./render-document.ts";
import { type CommandTarget, showCommand } from "./command-lines.ts";
import type { Sales } from "./with-sales.ts";

/** A correction: where it stands, its documents, and what the corrected sale needs an operator for. */
export function correctionLines(correction: ShownCorrection, target: CommandTarget): string[] {
  const { stage, invoice, correctedBy, creditNote, waitingFor, heldUp, documents } = correction;
  const waits = waitingFor === "nothing" ? "" : `; waits for ${waitingFor}`;
  return [
    `Correction of ${invoice} by ${correctedBy}, with the credit note ${creditNote}: ${stage}${waits}`,
    ...(stage === "credited" ? ["  No corrected sale was issued."] : []),
    ...(stage === "cancelled" ? ["  Nothing was credited: the sale stands as it was."] : []),
    ...documentLines("Credit note", documents.creditNote),
    ...documentLines("Corrected sale", documents.correctedSale),
    ...(heldUp
      ? [
          `  The corrected sale ${correctedBy} needs an operator: ${heldUp}. ${MEANING[heldUp]}.`,
          `    ${showCommand(correctedBy, target)}`,
        ]
      : []),
  ].map(plainLine);
}

/** What the sale that is corrected needs an operator for, with the commands that resolve it. */
export function attentionLines(attentions: readonly Attention[], target: CommandTarget): string[] {
  const lines = attentions.flatMap((attention) => [
    `Needs an operator: ${attention.code}, since ${nairobiTime(attention.sinceMs)}`,
    `  ${MEANING[attention.code]}. ${attention.message}`,
    ...resolvingCommands(attention, target).map((command) => `    ${command}`),
  ]);
  return lines.map(plainLine);
}

/** Number, total and receipt. */
export function documentLines(what: string, document: BookedDocument | undefined): string[] {
  if (!document) return [];
  const { number, receipt } = document;
  const receipts = receipt ? receiptLines(receipt) : ["not signed yet"];
  return [`  ${what} ${number}, ${totalText(document)}`, ...receipts.map((line) => `    ${line}`)];
}

/** The number of the sale that this one corrects, as its start or its row says; undefined where it corrects none. */
export async function correctedByIt(
  { client, starter }: Sales,
  key: SaleKey,
  state: SaleState,
): Promise<string | undefined> {
  if (state.source === "ledger") return state.replaces;
  const { memo } = await client.workflow.getHandle(starter.workflowId(key)).describe();
  const corrects = memo?.["corrects"];
  return typeof corrects === "string" ? corrects : undefined;
}
