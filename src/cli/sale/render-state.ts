import {
  areSettled,
  closedInWords,
  MEANING,
  nairobiTime,
  plainLine,
  type Stage,
  troubleInWords,
  whatToDo,
  type WorkflowState,
} from "../../contract/index.ts";
import type { PendingCall, SaleState } from "../../starter/index.ts";
import { needsRestart } from "../../starter/state-of-sale.ts";
import { resolvingCommands } from "../operate/operating-commands.ts";
import { nairobiClock } from "../output.ts";
import { balanceLines } from "./balance-lines.ts";
import { evidenceLines } from "./evidence-lines.ts";
import { type CommandTarget, correctCommand, refundCommand, restartCommand } from "./command-lines.ts";
import { documentLine, movementLine, receiptLines } from "./render-document.ts";
import { waitsForInWords } from "./trouble-notes.ts";

const LABEL_WIDTH = 14;

/** A sale as a page. */
export function renderState(title: string, workflowId: string, state: SaleState, target: CommandTarget): string {
  const { stage, document, closed } = state;
  const rows: [string, string | undefined][] = [
    ["Workflow", workflowId],
    ["Stage", closed ? `${stage} (${closed.status})` : stage],
    [
      "Ended",
      closed &&
        `${nairobiTime(closed.atMs)}: ${closedInWords(closed)}, ${wasThrough(state) ? "after it was completed: only its refund window ended" : "without an outcome"}`,
    ],
    ["Waits for", waitsForInWords(state)],
    ["API", state.serviceTrouble && `${troubleInWords(state.serviceTrouble)}, as far as calls show`],
    [
      "Calls",
      state.source === "workflow"
        ? state.pendingCalls?.map((call) => pendingCallText(call, state)).join("\n")
        : undefined,
    ],
    [
      "Cancellation",
      state.cancelRequested === undefined ? undefined : cancellationText(state, plainLine(state.cancelRequested)),
    ],
    ["Document", document ? documentLine(document) : stage === "cancelled" ? "none" : "none yet"],
    ["Error", document?.error ? plainLine(document.error) : undefined],
    ["Receipt", document?.receipt ? receiptLines(document.receipt).join("\n") : undefined],
    ["Credit note", creditNoteText(state)],
    ["Callbacks", state.callbacksReceived > 0 ? `${state.callbacksReceived} received` : undefined],
    ["Messages", state.unreadMessages ? `${state.unreadMessages} could not be read, and changed nothing` : undefined],
  ];
  const lines = [title, ...sourceLines(state), ...rows.flatMap(([label, value]) => (value ? row(label, value) : []))];
  if (state.stockMovements.length > 0)
    lines.push("Stock movements", ...state.stockMovements.map(indented(movementLine)), ...othersLines(state));
  if (needsRestart(state)) lines.push("To carry it on", `    ${restartCommand(target)}`);
  for (const attention of state.attentions) {
    const { code, subject, message, sinceMs } = attention;
    // No message reaches what the ledger alone knows, or what is closed: above it stands how that goes on.
    const isReached = state.source === "workflow" && !closed;
    lines.push(
      `${closed ? "When it ended it needed an operator" : "Needs an operator"}: ${code}${subject === undefined ? "" : ` (${subject})`}, since ${nairobiTime(sinceMs)}`,
      ...(isReached ? [`  ${whatToDo(attention)}`] : []),
      `  ${MEANING[code]}. ${message}`,
      ...[...balanceLines(attention), ...evidenceLines(attention)].map((line) => `  ${line}`),
      ...(isReached ? resolvingCommands(attention, target).map((command) => `    ${command}`) : []),
      ...(isReached && code === "mismatch" ? howToCorrect(state, target) : []),
    );
  }
  const hidden = (state.inAll?.attentions ?? 0) - state.attentions.length;
  if (hidden > 0) lines.push(`An operator is needed for ${hidden} more: they show once these are resolved.`);
  if (state.decisions.length > 0) {
    lines.push("Decisions", ...state.decisions.map(indented(decisionLine)));
  }
  return lines.map(plainLine).join("\n");
}

/** Of a document that differs from what was asked for, once a refund is allowed. */
function howToCorrect({ stage }: SaleState, target: CommandTarget): string[] {
  if (stage !== "completed") return [];
  return [
    "  If the document is wrong, credit it, or credit it and issue the corrected sale:",
    ...[refundCommand(target), correctCommand(target)].map((command) => `    ${command}`),
  ];
}

/** What reverses the sale, or is to. */
function creditNoteText({ creditNote, refund, stage }: SaleState): string | undefined {
  if (!creditNote) return refund && stage === "crediting" ? `${refund.traderInvoiceNumber}, none yet` : undefined;
  const { error, receipt } = creditNote;
  return [
    documentLine(creditNote),
    ...(error ? [plainLine(error)] : []),
    ...(receipt ? receiptLines(receipt) : []),
  ].join("\n");
}

/** Of the movements that are left out of the answer. */
function othersLines({ stockMovements, inAll }: SaleState): string[] {
  if (!inAll?.stockMovements) return [];
  const counts = inAll.stockMovements.map(({ purpose, state, count }) => `${count} ${purpose} ${state}`);
  return [`  of ${counts.join(", ")}, these ${stockMovements.length}; the ledger keeps all`];
}

function sourceLines(state: SaleState): string[] {
  if (state.source === "workflow") return [];
  return [`  From the ledger, which wrote this on ${nairobiTime(state.keptAtMs)}: no workflow of it is open.`];
}

function row(label: string, value: string): string[] {
  return value.split("\n").map((line, index) => `  ${(index === 0 ? label : "").padEnd(LABEL_WIDTH)}${line}`);
}

function indented<Value>(render: (value: Value) => string): (value: Value) => string {
  return (value) => `  ${render(value)}`;
}

/** A wait for the service has no name in the API, so its own says nothing to an operator. */
function callName(call: string, { attentions }: SaleState): string {
  if (call !== "awaitService") return call;
  const isRefused = attentions.some(({ code }) => code === "credentials");
  return `looks whether the API ${isRefused ? "accepts the key" : "serves calls again"}`;
}

function pendingCallText(pending: PendingCall, sale: SaleState): string {
  const { state, attempt, sinceMs, nextAttemptAtMs, message } = pending;
  const call = callName(pending.call, sale);
  const said = message === undefined ? "" : `\n  ${plainLine(message)}`;
  if (state === "paused")
    return `${call}: paused in Temporal since ${nairobiClock(sinceMs)}; it goes on once it is unpaused there${said}`;
  if (state === "queued")
    return `${call}: queued since ${nairobiClock(sinceMs)}, for a request of the budget and a worker${said}`;
  if (state === "under-way") return `${call}: attempt ${attempt}, under way since ${nairobiClock(sinceMs)}${said}`;
  const next = nextAttemptAtMs === undefined ? "" : `, the next at ${nairobiClock(nextAttemptAtMs)}`;
  return `${call}: attempt ${attempt} ended at ${nairobiClock(sinceMs)}${next}${said}`;
}

function cancellationText({ stage, document }: SaleState, reason: string): string {
  if (stage === "cancelled") return `carried out: ${reason}`;
  const asked = `asked for: ${reason}`;
  if (document?.status !== "completed") return `${asked}\nIt is a wish until the document's fate is known.`;
  return `${asked}\nNothing is cancelled: the document is signed. A completed sale is reversed by a refund.`;
}

function decisionLine(decision: WorkflowState["decisions"][number]): string {
  const { atMs, update, code, subject, answer, note, by } = decision;
  const about = [update, code, subject === undefined ? undefined : `(${subject})`].filter(Boolean).join(" ");
  return `${nairobiTime(atMs)} ${by ?? "somebody"}: ${about}${answer === undefined ? "" : `: ${answer}`}${note === "" ? "" : `; ${note}`}`;
}

const SIGNED_STAGES: readonly Stage[] = ["completed", "crediting", "credited"];

/** Of one that ended: nothing was left to be done but a refund. */
function wasThrough(state: SaleState): boolean {
  const { stage, attentions, stockMovements } = state;
  const isDone = SIGNED_STAGES.includes(stage) && attentions.length === 0 && areSettled(stockMovements);
  return isDone && !needsRestart(state);
}
