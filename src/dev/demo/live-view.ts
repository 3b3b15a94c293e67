import type { OutputStream } from "../../cli/context.ts";
import { changeLine, saleLine } from "./sale-line.ts";
import type { SaleProgress } from "./sale-progress.ts";
import type { Paint } from "./screens.ts";

const REDRAW_MS = 100;
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const CLEAR_LINE = "\u001b[2K";

/** Shows the demo's sales while they run. */
export interface LiveView {
  show(sales: readonly SaleProgress[]): void;
  /** Leaves the last picture standing, and the terminal as it was. */
  end(): void;
}

interface Options {
  readonly paint: Paint;
  readonly nowMs?: () => number;
}

/** A line per sale, changing in place where there is a terminal with room for it; else a line per change. */
export function liveView(screen: OutputStream, sales: number, options: Options): LiveView {
  const fits = screen.isTTY === true && (screen.columns ?? 0) >= 60 && (screen.rows ?? 0) > sales + 1;
  return fits ? redrawing(screen, options) : logging(screen);
}

function redrawing(screen: OutputStream, { paint, nowMs = Date.now }: Options): LiveView {
  let sales: readonly SaleProgress[] = [];
  let drawn = 0;
  const draw = (): void => {
    const layout = { ...widths(sales), nowMs: nowMs(), columns: (screen.columns ?? 80) - 1, paint };
    const lines = sales.map((sale) => `${CLEAR_LINE}${saleLine(sale, layout)}\n`);
    screen.write(`${drawn > 0 ? `\u001b[${drawn}A` : HIDE_CURSOR}${lines.join("")}`);
    drawn = lines.length;
  };
  // Whoever presses Ctrl-C twice gets the terminal back as well.
  const restore = (): unknown => screen.write(SHOW_CURSOR);
  process.once("exit", restore);
  // The spinner and the seconds move also while nothing else does.
  const redraw = setInterval(() => {
    if (sales.length > 0) draw();
  }, REDRAW_MS);
  return {
    show(now) {
      sales = now;
    },
    end() {
      clearInterval(redraw);
      if (sales.length > 0) draw();
      process.off("exit", restore);
      restore();
    },
  };
}

function logging(screen: OutputStream): LiveView {
  const shown = new Map<string, string>();
  return {
    show(sales) {
      for (const sale of sales) {
        // What it waits for changes more often than anybody wants to read in a log.
        const change = `${sale.stage} ${sale.endedAtMs === undefined}`;
        if (sale.stage === "starting" || shown.get(sale.example.invoice) === change) continue;
        shown.set(sale.example.invoice, change);
        screen.write(`${changeLine(sale, widths(sales))}\n`);
      }
    },
    end() {},
  };
}

function widths(sales: readonly SaleProgress[]): { invoiceWidth: number; titleWidth: number } {
  const longest = (texts: string[]): number => Math.max(0, ...texts.map((text) => text.length));
  return {
    invoiceWidth: longest(sales.map(({ example }) => example.invoice)),
    titleWidth: longest(sales.map(({ example }) => example.title)),
  };
}
