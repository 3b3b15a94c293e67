import { styleText } from "node:util";

import { plainLine } from "../../contract/plain-text.ts";
import type { SaleProgress } from "./run-sales.ts";

/** A stream that may be a terminal; `process.stdout` is one. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const STAGE_WIDTH = "awaiting-authority".length;
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const CLEAR_LINE = "\u001b[2K";

/** The sales, a line each: what the example shows, its stage, the seconds, and what it waits for or has come to. */
export interface SalesTable {
  show(sales: readonly SaleProgress[]): void;
  /** Leaves the last picture standing, and the terminal as it was. */
  end(): void;
}

/**
 * Changes in place where there is a terminal with room for it; else it is a line for each change of a stage.
 * @param isColoured see https://no-color.org
 */
export function salesTable(screen: Screen, length: number, isColoured: boolean): SalesTable {
  const { isTTY = false, columns = 0, rows = 0 } = screen;
  return isTTY && columns >= 60 && rows > length + 1 ? redrawing(screen, isColoured) : logging(screen);
}

function redrawing(screen: Screen, isColoured: boolean): SalesTable {
  let sales: readonly SaleProgress[] = [];
  let drawn = 0;
  const draw = (): void => {
    const lines = sales.map((sale) => `${CLEAR_LINE}${painted(saleLine(sale, sales, screen.columns), sale)}\n`);
    screen.write(`${drawn > 0 ? `\u001b[${drawn}A` : HIDE_CURSOR}${lines.join("")}`);
    drawn = lines.length;
  };
  // Once all is cut, so that no escape sequence is cut in two.
  const painted = ([mark = "", ...line]: string, sale: SaleProgress): string => {
    const colour = sale.endedAtMs === undefined ? "cyan" : isGood(sale) ? "green" : "red";
    return `${isColoured ? styleText(colour, mark) : mark}${line.join("")}`;
  };
  // Whoever presses Ctrl-C twice gets the terminal back as well.
  const restore = (): unknown => screen.write(SHOW_CURSOR);
  process.once("exit", restore);
  // The spinner and the seconds move also while nothing else does.
  const redraw = setInterval(draw, FRAME_MS);
  return {
    show: (now) => (sales = now),
    end() {
      clearInterval(redraw);
      draw();
      process.off("exit", restore);
      restore();
    },
  };
}

function logging(screen: Screen): SalesTable {
  const shown = new Map<string, string>();
  return {
    show(sales) {
      for (const sale of sales) {
        // What it waits for changes more often than anybody wants to read in a log.
        const change = `${sale.stage} ${sale.endedAtMs}`;
        if (sale.stage === "starting" || shown.get(sale.workflowId) === change) continue;
        shown.set(sale.workflowId, change);
        screen.write(`${saleLine(sale, sales)}\n`);
      }
    },
    end() {},
  };
}

function isGood({ problem, stage, example }: SaleProgress): boolean {
  return problem === undefined && stage === example.expected.stage;
}

/** @param columns of a screen on which it is redrawn: a line that wraps would spoil that */
export function saleLine(sale: SaleProgress, all: readonly SaleProgress[], columns?: number): string {
  const { example, stage, startedAtMs, endedAtMs, waitingFor } = sale;
  const width = (of: (one: SaleProgress) => string): number => Math.max(...all.map((one) => of(one).length));
  const isOpen = endedAtMs === undefined;
  const frame = columns === undefined ? "·" : SPINNER[Math.floor(Date.now() / FRAME_MS) % SPINNER.length];
  const cells = [
    isOpen ? frame : isGood(sale) ? "✔" : "✖",
    example.invoice.padEnd(width((one) => one.example.invoice)),
    example.title.padEnd(width((one) => one.example.title)),
    stage.padEnd(STAGE_WIDTH),
    `${(((endedAtMs ?? Date.now()) - startedAtMs) / 1_000).toFixed(1)} s`.padStart(6),
    isOpen ? `waits for ${waitingFor}` : outcomeOf(sale),
  ];
  // A message may carry a line's end, which would spoil the redrawing as much.
  const line = plainLine(cells.join("  ")).trimEnd();
  return columns === undefined || line.length < columns ? line : `${line.slice(0, columns - 2)}…`;
}

/** The receipts, or what an operator has to do. */
function outcomeOf({ problem, example: { expected }, state }: SaleProgress): string {
  if (problem !== undefined) return problem;
  const receipts = [state?.document?.receipt, state?.creditNote?.receipt].flatMap((receipt) =>
    receipt ? [`${receipt.receiptLabel ?? ""} ${receipt.receiptNumber}`.trim()] : [],
  );
  const attention = expected.attention === undefined ? [] : [`needs an operator, as meant: ${expected.attention}`];
  return [...receipts, ...attention].join(", ");
}
