import {
  closedInWords,
  everythingWaitedFor,
  nairobiTime,
  plainLine,
  troubleInWords,
  whatToDo,
  type WorkflowState,
} from "../../contract/index.ts";
import type { PendingCall, SaleKey, SaleState } from "../../starter/index.ts";
import { correctionIn } from "../../starter/refund.ts";
import { needsRestart } from "../../starter/state-of-sale.ts";
import type { CliContext } from "../context.ts";
import { resolvingCommands } from "../operate/operating-commands.ts";
import { nairobiClock, printNote, printResult } from "../output.ts";
import {
  attentionLines,
  type CommandTarget,
  correctCommand,
  documentLine,
  movementLine,
  receiptLines,
  refundCommand,
  restartCommand,
  showCommand,
} from "./lines.ts";
import { correctionLines, withDocuments } from "./refund.ts";
import type { ResultFlags, Scope } from "../options.ts";
import { readTimeline, timelinePage } from "./timeline.ts";
import { type Sales, withSales } from "./with-sales.ts";

/** Where a sale stands, as a page or as JSON. @param number of the sale, or of its credit note */
export async function showSale(context: CliContext, number: string, flags: Scope & ResultFlags): Promise<void> {
  await withSales(context, async (sales) => {
    const { client, starter } = sales;
    const { key, state } = await sales.find(number, flags);
    const { connection, businessId, invoice } = key;
    if (invoice !== number)
      printNote(context, `${number} is the number of a credit note of the sale ${invoice}, which is shown here.`);
    const workflowId = starter.workflowId(key);
    const timeline = await readTimeline(client, workflowId);
    const corrects = await correctedByIt(sales, key, state);
    const begun = correctionIn(state, { workflowId, invoice });
    const correction = begun && (await withDocuments(sales, key, begun, state));
    const target = { ...flags, invoice };
    const pages = [
      renderState(`Sale ${invoice} of ${businessId} (connection ${connection})`, workflowId, state, target),
      corrects && `Corrects ${corrects}: see ${showCommand(corrects, flags)}`,
      correction && correctionLines(correction, target).join("\n"),
      timelinePage(timeline),
    ];
    const data = { ...state, correction: correction ?? state.correction, corrects, timeline };
    printResult(context, flags.json, data, pages.filter(Boolean).join("\n\n"));
  });
}

/** The number of the sale that this one corrects, as its start or its row says; undefined where it corrects none. */
async function correctedByIt({ client, starter }: Sales, key: SaleKey, state: SaleState): Promise<string | undefined> {
  if (state.source === "ledger") return state.replaces;
  const { memo } = await client.workflow.getHandle(starter.workflowId(key)).describe();
  const corrects = memo?.["corrects"];
  return typeof corrects === "string" ? corrects : undefined;
}

const LABEL_WIDTH = 14;

export function renderState(title: string, workflowId: string, state: SaleState, target: CommandTarget): string {
  const { stage, document, closed, stockMovements, attentions, inAll } = state;
  const rows: Record<string, string | false | null | undefined> = {
    Workflow: workflowId,
    Stage: closed ? `${stage} (${closed.status})` : stage,
    Ended:
      closed &&
      `${nairobiTime(closed.atMs)}: ${closedInWords(closed)}, ${closed.settled ? "with nothing left to do" : "without an outcome"}`,
    // An operator before all else, wherever an update can reach the sale.
    "Waits for": closed || state.source === "ledger" ? state.waitingFor : everythingWaitedFor(state),
    API: state.serviceTrouble && `${troubleInWords(state.serviceTrouble)}, as far as calls show`,
    Calls:
      state.source === "workflow" && (state.pendingCalls ?? []).map((call) => pendingCallText(call, state)).join("\n"),
    Cancellation: state.cancelRequested !== undefined && cancellationText(state, plainLine(state.cancelRequested)),
    Document: document ? documentLine(document) : stage === "cancelled" ? "none" : "none yet",
    Error: document?.error && plainLine(document.error),
    Receipt: document?.receipt && receiptLines(document.receipt).join("\n"),
    "Credit note": creditNoteText(state),
    Callbacks: state.callbacksReceived > 0 && `${state.callbacksReceived} received`,
    Messages: (state.unreadMessages ?? 0) > 0 && `${state.unreadMessages} could not be read, and changed nothing`,
  };
  const lines = [title];
  if (state.source === "ledger")
    lines.push(`  From the ledger, which wrote this on ${nairobiTime(state.keptAtMs)}: no workflow of it is open.`);
  for (const [label, value] of Object.entries(rows))
    if (value)
      lines.push(...value.split("\n").map((line, at) => `  ${(at === 0 ? label : "").padEnd(LABEL_WIDTH)}${line}`));
  if (stockMovements.length > 0)
    lines.push("Stock movements", ...stockMovements.map((one) => `  ${movementLine(one)}`));
  if (inAll?.stockMovements) {
    const counts = inAll.stockMovements.map(({ purpose, state: its, count }) => `${count} ${purpose} ${its}`);
    lines.push(`  of ${counts.join(", ")}, these ${stockMovements.length}; the ledger keeps all`);
  }
  if (needsRestart(state)) lines.push("To carry it on", `    ${restartCommand(target)}`);
  // No message reaches what the ledger alone knows, or what is closed: above it stands how that goes on.
  const isReached = state.source === "workflow" && !closed;
  for (const attention of attentions) {
    const commands = isReached ? resolvingCommands(attention, target) : [];
    lines.push(
      ...attentionLines(attention, {
        commands,
        ...(isReached && { whatToDo: whatToDo(attention) }),
        ...(closed && { title: "When it ended it needed an operator" }),
      }),
    );
    if (isReached && attention.code === "mismatch" && stage === "completed")
      lines.push(
        "  If the document is wrong, credit it, or credit it and issue the corrected sale:",
        ...[refundCommand(target), correctCommand(target)].map((command) => `    ${command}`),
      );
  }
  const hidden = (inAll?.attentions ?? 0) - attentions.length;
  if (hidden > 0) lines.push(`An operator is needed for ${hidden} more: they show once these are resolved.`);
  if (state.decisions.length > 0) lines.push("Decisions", ...state.decisions.map(decisionLine));
  return lines.map(plainLine).join("\n");
}

function creditNoteText({ creditNote, refund, stage }: SaleState): string | undefined {
  if (!creditNote) return refund && stage === "crediting" ? `${refund.traderInvoiceNumber}, none yet` : undefined;
  const { error, receipt } = creditNote;
  const lines = [documentLine(creditNote), ...(error ? [plainLine(error)] : [])];
  return [...lines, ...(receipt ? receiptLines(receipt) : [])].join("\n");
}

function pendingCallText(pending: PendingCall, { attentions }: SaleState): string {
  const { state, attempt, sinceMs, nextAttemptAtMs, message } = pending;
  const isRefused = attentions.some(({ code }) => code === "credentials");
  // A wait for the service has no name in the API, so its own says nothing to an operator.
  const call =
    pending.call === "awaitService"
      ? `looks whether the API ${isRefused ? "accepts the key" : "serves calls again"}`
      : pending.call;
  const since = nairobiClock(sinceMs);
  const next = nextAttemptAtMs === undefined ? "" : `, the next at ${nairobiClock(nextAttemptAtMs)}`;
  const how = {
    paused: `paused in Temporal since ${since}; it goes on once it is unpaused there`,
    queued: `queued since ${since}, for a request of the budget and a worker`,
    "in-progress": `attempt ${attempt}, under way since ${since}`,
    pausing: `attempt ${attempt} ended at ${since}${next}`,
  }[state];
  return `${call}: ${how}${message === undefined ? "" : `\n  ${plainLine(message)}`}`;
}

function cancellationText({ stage, document }: SaleState, reason: string): string {
  if (stage === "cancelled") return `carried out: ${reason}`;
  const asked = `asked for: ${reason}`;
  if (document?.status !== "completed") return `${asked}\nIt is a wish until the document's fate is known.`;
  return `${asked}\nNothing is cancelled: the document is signed. A completed sale is reversed by a refund.`;
}

function decisionLine({ atMs, update, code, subject, answer, note, by }: WorkflowState["decisions"][number]): string {
  const about = [update, code, subject === undefined ? undefined : `(${subject})`].filter(Boolean).join(" ");
  const answered = answer === undefined ? "" : `: ${answer}`;
  return `  ${nairobiTime(atMs)} ${by ?? "somebody"}: ${about}${answered}${note === "" ? "" : `; ${note}`}`;
}
