import {
  type Attention,
  balanceInWords,
  DEFAULT_CONNECTION,
  endedInWords,
  fewOf,
  MEANING,
  type MovementDecision,
  nairobiTime,
  plainLine,
  type Receipt,
  type SaleDocument,
  type SaleOutcome,
  SETTLED_STAGES,
  shellWord,
  type StockMovement,
} from "../../contract/index.ts";
import type { Scope } from "../options.ts";

/** Command lines that are printed, ready to be pasted; what only an operator knows stands in angle brackets. */

export interface CommandTarget extends Scope {
  invoice: string;
}

/** @param words `sale retry` @param operands the number, and what stands behind it */
export function commandLine(
  words: string,
  operands: readonly string[],
  flags: readonly string[],
  scope: Scope,
): string {
  const named = operands.map((operand) => shellWord(operand));
  const flagged = [...flags, ...scopeFlags(scope)];
  // Behind `--` a number that begins with a hyphen is no flag.
  const rest = operands[0]?.startsWith("-") ? [...flagged, "--", ...named] : [...named, ...flagged];
  return ["fiscalflow", words, ...rest].join(" ");
}

/** Where they are not the default. */
export function scopeFlags({ connection = DEFAULT_CONNECTION, business }: Scope): string[] {
  return [
    ...(connection === DEFAULT_CONNECTION ? [] : ["--connection", connection]),
    ...(business === undefined ? [] : ["--business", shellWord(business)]),
  ];
}

export function restartCommand({ invoice, ...scope }: CommandTarget): string {
  return commandLine("sale restart", [invoice], ["--note", "'<why>'"], scope);
}

const OF_REFUND = ["--reason", "'<code>'", "--number", "'<of the credit note>'"];

export function refundCommand({ invoice, ...scope }: CommandTarget): string {
  return commandLine("sale refund", [invoice], OF_REFUND, scope);
}

export function correctCommand({ invoice, ...scope }: CommandTarget): string {
  return commandLine("sale correct", [invoice, "<file of the corrected sale>"], OF_REFUND, scope);
}

export function showCommand(invoice: string, scope: Scope): string {
  return commandLine("sale show", [invoice], [], scope);
}

export function documentLine(document: SaleDocument): string {
  const { id, type, status, totals, saleDate, traderInvoiceNumber, linesLeftOut } = document;
  const number = type === "credit_note" ? ` ${traderInvoiceNumber}` : "";
  const date = saleDate ? `, dated ${saleDate}` : "";
  const lines = linesLeftOut ? `, ${linesLeftOut.count} lines (the ledger keeps them)` : "";
  return `${id}${number}, ${status}, ${totalText(totals)}${date}${lines}`;
}

/** Tax-inclusive; negative on a credit note. */
export function totalText({ total, taxAmount }: Pick<SaleDocument["totals"], "total" | "taxAmount">): string {
  return `total ${total.toFixed(2)} (tax ${taxAmount.toFixed(2)})`;
}

export function receiptLines(receipt: Receipt): string[] {
  const { cuInvoiceNo, receiptNumber, receiptLabel, scuDate, scuTime, verificationUrl } = receipt;
  const label = [receiptLabel, receiptNumber].filter((part) => part !== null && part !== undefined).join(" ");
  const time = [scuDate, scuTime].filter(Boolean).join(" ");
  const line = [cuInvoiceNo, label, time].filter(Boolean).join(", ");
  return [line || "signed, without a number", ...(verificationUrl ? [verificationUrl] : [])].map(plainLine);
}

export function movementLine(movement: StockMovement): string {
  const { referenceId, action, quantity, itemId, state, movementId, report, decision } = movement;
  const reported = [report?.stockIo, report?.stockMaster].filter(Boolean).join("/");
  const notes = [
    movementId && `movement ${movementId}`,
    reported && `reported ${reported}`,
    decision && decisionText(decision, movement),
    decision?.contradicts && balanceInWords(decision.contradicts),
  ].filter(Boolean);
  return `${referenceId}: ${action} ${quantity} of ${itemId}, ${state}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`;
}

/** A note that says "not applied" does not explain a movement that was applied by the try after it. */
function decisionText({ applied, note, atMs }: MovementDecision, { state, sentAtMs = 0 }: StockMovement): string {
  if (applied) return `decided: ${note}`;
  const sentAgain = sentAtMs > atMs || state === "sending";
  return `${sentAgain ? "sent again after the decision" : "decided"} 'not applied': ${note}`;
}

export function outcomeLine(outcome: SaleOutcome): string {
  const { stage, sale, receipt, creditNote, attention, cancelRequested, closed } = outcome;
  const document = creditNote ?? sale;
  const signed = creditNote ? creditNote.receipt : receipt;
  // Between two automatic resubmissions; once they are used up, an operator is needed.
  const isSubmittedAgain = stage === "rejected" && !attention && cancelRequested === undefined && !closed;
  const parts = [
    closed ? `${stage} when its workflow ${endedInWords(closed)}` : stage,
    ...(document ? [`document ${document.id} ${document.status}`, totalText(document.totals)] : []),
    ...(signed ? [`receipt ${receiptLines(signed)[0] ?? ""}`] : []),
    ...(attention ? [`needs an operator: ${attention.code}`] : []),
    ...(isSubmittedAgain ? ["fiscalflow submits it again by itself"] : []),
  ];
  return parts.join(", ");
}

/** Of a sale that was waited for: its document needs an operator, or nothing comes of it. */
export function isUnsuccessful({ stage, attention, closed }: SaleOutcome): boolean {
  return closed !== undefined || stage === "cancelled" || (attention !== undefined && !SETTLED_STAGES.includes(stage));
}

interface About {
  commands: readonly string[];
  whatToDo?: string;
  title?: string;
}

export function attentionLines(
  attention: Attention,
  { commands, whatToDo, title = "Needs an operator" }: About,
): string[] {
  const { code, subject, message, sinceMs } = attention;
  return [
    `${title}: ${code}${subject === undefined ? "" : ` (${subject})`}, since ${nairobiTime(sinceMs)}`,
    ...(whatToDo === undefined ? [] : [`  ${whatToDo}`]),
    `  ${MEANING[code]}. ${message}`,
    ...[...balanceLines(attention), ...evidenceLines(attention)].map((line) => `  ${line}`),
    ...commands.map((command) => `    ${command}`),
  ].map(plainLine);
}

/** So many of a list are shown; `--json` has them all. */
const MOST_SHOWN = 10;

/** What the API answered beside its message: the branches that a business has, and what is wrong with each field. */
function evidenceLines({ evidence }: Attention): string[] {
  return ["branches", "errors"].flatMap((name) => {
    const list: unknown = evidence?.[name];
    if (!Array.isArray(list) || list.length === 0) return [];
    return [`${name}: ${fewOf(list.map(valuesOf), MOST_SHOWN).join(", ")}`];
  });
}

function valuesOf(entry: unknown): string {
  if (typeof entry !== "object" || entry === null) return String(entry);
  const isShown = (value: unknown) => typeof value === "string" || typeof value === "number";
  return Object.values(entry).filter(isShown).join(" ");
}

const CAVEAT = "Other tills and the dashboard move it too, so look before you answer.";

const SPEAKS: Readonly<Record<string, string>> = {
  for: "The balance speaks for it: it was probably applied.",
  against: "The balance speaks against it: it was probably not applied.",
  neither: "The balance speaks neither for it nor against it.",
};

/**
 * What the item's balance says of a movement of unknown outcome, in words. Evidence and no more: other tills and the
 * dashboard move the balance too. Where no balance is known, `whatToDo` says so.
 */
export function balanceLines({ code, evidence = {} }: Attention): string[] {
  if (code !== "stock-unknown") return [];
  const { expectedIfApplied, expectedIfNot, lastQuantityOnHand, lastSeenAt, laterQuantityOnHand, laterSeenAt } =
    evidence;
  const lines: string[] = [];
  if (typeof lastQuantityOnHand === "number")
    lines.push(`Last balance before it was sent: ${lastQuantityOnHand}${timeOf(lastSeenAt)}.`);
  if (typeof laterQuantityOnHand !== "number") return lines;
  const expected =
    typeof expectedIfApplied === "number"
      ? `; ${expectedIfApplied} was expected if it was applied, ${String(expectedIfNot)} if not`
      : "";
  lines.push(`First balance after it: ${laterQuantityOnHand}${timeOf(laterSeenAt)}${expected}.`);
  const speaks = SPEAKS[String(evidence["balanceSpeaks"])];
  return speaks === undefined ? lines : [...lines, `${speaks} ${CAVEAT}`];
}

function timeOf(at: unknown): string {
  return typeof at === "string" ? ` (${nairobiTime(Date.parse(at))})` : "";
}
