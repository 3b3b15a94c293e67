import { plainLine } from "../../contract/plain-text.ts";
import { endText, isOpen, type SaleProgress } from "./sale-progress.ts";
import type { Paint } from "./screens.ts";

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;

export interface LineLayout {
  readonly nowMs: number;
  /** Of the screen: a line that wraps would spoil the redrawing. */
  readonly columns: number;
  readonly invoiceWidth: number;
  readonly titleWidth: number;
  readonly paint: Paint;
}

const STAGE_WIDTH = "awaiting-authority".length;

/** One sale on one line: mark, invoice, what the example shows, stage, seconds, and what it waits for. */
export function saleLine(sale: SaleProgress, layout: LineLayout): string {
  const { nowMs, columns, paint } = layout;
  const good = sale.problem === undefined && sale.stage === sale.example.expected.stage;
  const seconds = ((sale.endedAtMs ?? nowMs) - sale.startedAtMs) / 1_000;
  const frame = SPINNER[Math.floor(nowMs / FRAME_MS) % SPINNER.length] ?? "";
  const mark = isOpen(sale) ? frame : good ? "✔" : "✖";
  const wait = isOpen(sale) ? sale.waitingFor : (endText(sale) ?? "");
  const cells = [
    mark,
    sale.example.invoice.padEnd(layout.invoiceWidth),
    sale.example.title.padEnd(layout.titleWidth),
    sale.stage.padEnd(STAGE_WIDTH),
    `${seconds.toFixed(1)} s`.padStart(6),
  ];
  const head = cut(cells.join("  "), columns);
  const tail = cut(wait, columns - head.length - 2);
  const colour = isOpen(sale) ? "cyan" : good ? "green" : "red";
  // Painted once all is cut, so that no escape sequence is cut in two.
  return `${paint(head.slice(0, mark.length), colour)}${head.slice(mark.length)}${tail === "" ? "" : `  ${paint(tail, "dim")}`}`;
}

/** A message may carry a line's end, which would spoil the redrawing as much. */
function cut(text: string, columns: number): string {
  const line = oneLine(text).trimEnd();
  if (columns <= 1) return "";
  return line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;
}

function oneLine(text: string): string {
  return plainLine(text.replaceAll(/\s*\n\s*/g, " "));
}

/** The same for a log: what has changed, on a line of its own. */
export function changeLine(sale: SaleProgress, layout: Pick<LineLayout, "invoiceWidth" | "titleWidth">): string {
  const { example, stage, waitingFor } = sale;
  const detail = isOpen(sale) ? `waits for ${waitingFor}` : (endText(sale) ?? "done");
  const cells = [example.invoice.padEnd(layout.invoiceWidth), example.title.padEnd(layout.titleWidth)];
  return oneLine([...cells, stage.padEnd(STAGE_WIDTH), detail].join("  "));
}
