import { MEANING, nairobiTime, plainLine } from "../../contract/index.ts";
import type { Correction, SaleKey } from "../../starter/index.ts";
import { type CommandTarget, resolvingCommands, showCommand } from "./resolving-commands.ts";
import type { BookedDocument, ShownCorrection } from "./correction-documents.ts";
import { receiptLines, totalText } from "./render-document.ts";
import type { Sales } from "./with-sales.ts";

/** A correction: where it stands, and the commands that resolve what it needs an operator for. */
export function correctionLines(correction: ShownCorrection, target: CommandTarget): string[] {
  const { stage, invoice, correctedBy, creditNote, waitingFor, message, heldUp, attentions, documents } = correction;
  const waits = waitingFor === "nothing" ? "" : `; waits for ${waitingFor}`;
  const ofWhat = heldUp?.what === "credit-note" ? `credit note ${creditNote}` : `corrected sale ${correctedBy}`;
  const shown = heldUp?.what === "credit-note" ? invoice : correctedBy;
  return [
    `Correction of ${invoice} by ${correctedBy}, with the credit note ${creditNote}: ${stage}${waits}`,
    ...(message === undefined ? [] : [`  ${message}`]),
    ...documentLines("Credit note", documents.creditNote),
    ...documentLines("Corrected sale", documents.correctedSale),
    ...(heldUp
      ? [
          `  The ${ofWhat} needs an operator: ${heldUp.code}. ${MEANING[heldUp.code]}.`,
          `    ${showCommand(shown, target)}`,
        ]
      : []),
    ...attentions.flatMap((attention) => [
      `Needs an operator: ${attention.code}, since ${nairobiTime(attention.sinceMs)}`,
      `  ${MEANING[attention.code]}. ${attention.message}`,
      ...resolvingCommands(attention, { ...target, correction: true }).map((command) => `    ${command}`),
    ]),
  ].map(plainLine);
}

/** Number, total and receipt. */
export function documentLines(what: string, document: BookedDocument | undefined): string[] {
  if (!document) return [];
  const { number, receipt } = document;
  const receipts = receipt ? receiptLines(receipt) : ["not signed yet"];
  return [`  ${what} ${number}, ${totalText(document)}`, ...receipts.map((line) => `    ${line}`)];
}

/** Of a sale: the correction that credits it, and the sale that it corrects. Temporal knows both for its retention. */
export async function correctionsOf(
  { client, starter }: Sales,
  key: SaleKey,
): Promise<{ corrects?: string; correction?: Correction; stopped?: string }> {
  const { WorkflowNotFoundError } = await import("@temporalio/client");
  const { SaleFailedError } = await import("../../starter/index.ts");
  const handle = client.workflow.getHandle(starter.workflowId(key));
  const memo = await handle.describe().then(
    (described) => described.memo,
    (error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    },
  );
  const corrects = memo?.["corrects"];
  const known = typeof corrects === "string" ? { corrects } : {};
  try {
    const correction = await starter.correction(key);
    return { ...known, ...(correction && { correction }) };
  } catch (error) {
    if (!(error instanceof SaleFailedError)) throw error;
    const stopped = `Correction: its workflow ${starter.correctionWorkflowId(key)} has stopped (${error.message}). Start it again as it was, and it goes on.`;
    return { ...known, stopped };
  }
}
