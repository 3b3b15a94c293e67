import { plainLine } from "../../contract/plain-text.ts";
import { compareWithBooks } from "./compare-with-books.ts";
import { countCalls } from "./count-calls.ts";
import { liveView } from "./live-view.ts";
import { resultTable } from "./result-table.ts";
import { runSales } from "./run-sales.ts";
import type { SaleProgress } from "./sale-progress.ts";
import type { Screens } from "./screens.ts";
import type { DemoStack } from "./start-demo-stack.ts";

/**
 * Runs the sales before everybody's eyes: live, then the table, then whether the simulator's books agree with it.
 * Returns the sales, and how many differences there were.
 */
export async function showSales(
  stack: DemoStack,
  screens: Screens,
): Promise<{ sales: readonly SaleProgress[]; differences: number }> {
  const { stdout, stderr, paint, stdoutPaint, signal } = screens;
  const view = liveView(stderr, stack.plan.examples.length, { paint });
  let sales;
  try {
    sales = await runSales(stack, { signal, onChange: (now) => view.show(now) });
  } finally {
    view.end();
  }
  const books = stack.simulator.books();
  const counts = countCalls(stack.plan, books.callLog);
  const { temporal } = stack;
  const columns = stdout.isTTY ? stdout.columns : undefined;
  stdout.write(`${resultTable({ sales, counts, temporal, columns, paint: stdoutPaint })}\n`);
  const differences = compareWithBooks(stack.plan, sales, books);
  if (differences.length === 0) {
    const { documents, movements } = books;
    const verdict = `The simulator's books agree: ${documents.length} documents and ${movements.length} stock movements, each once.`;
    stdout.write(`${stdoutPaint(verdict, "green")}\n`);
    return { sales, differences: 0 };
  }
  stderr.write(
    `${paint("Not as it should be:", "red")}\n${differences.map((line) => `  ${plainLine(line)}\n`).join("")}`,
  );
  return { sales, differences: differences.length };
}
