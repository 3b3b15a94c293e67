import { nairobiDate, plainLine, plainText } from "../../../contract/index.ts";
import { openPage, pageOpener } from "../../../cli/open-page.ts";
import { chainText, verifiedChains } from "../../../cli/ledger/verified-chains.ts";
import type { Screens } from "../screens.ts";
import type { DemoStack } from "../start-demo-stack.ts";
import { readLedgerContents, readServiceBooks, type ServiceBooks } from "./books-and-ledger.ts";
import { compareWithLedger } from "./compare-with-ledger.ts";
import { reportFile, untilSalesAreKept, writeDayReport } from "./day-report.ts";
import { jobTable } from "./job-table.ts";
import { jobView } from "./job-view.ts";
import { runJobs } from "./run-jobs.ts";

export interface BackOfficeOptions {
  /** When the first sale was started (Unix milliseconds): the report is of that day. */
  readonly salesSinceMs: number;
  /** Absolute path of the report's page; default: a place that outlives the demo. */
  readonly report?: string | undefined;
  /** Show the page in a browser where somebody sits before one. */
  readonly open: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The second act: the jobs that have no sale of their own, the day's report, and whether the ledger is unaltered
 * and what the simulator's books say. Returns how many differences there were.
 */
export async function showBackOffice(stack: DemoStack, screens: Screens, options: BackOfficeOptions): Promise<number> {
  const { stdout, stderr, stdoutPaint, paint, signal } = screens;
  const { temporal, ledger } = stack;
  await untilSalesAreKept(stack, signal);
  const view = jobView(stderr);
  const results = await runJobs(stack, {
    signal,
    onProgress: ({ workflow }, line) => view.show(`${workflow.padEnd(NAME_WIDTH)}  ${line}`),
    onEnd: ({ job, problem }) => view.end(`${job.workflow.padEnd(NAME_WIDTH)}  ${problem ?? "done"}`),
  });
  const columns = stdout.isTTY ? stdout.columns : undefined;
  stdout.write(`${jobTable({ results, temporal, columns, paint: stdoutPaint })}\n\n`);

  const day = nairobiDate(options.salesSinceMs);
  const file = options.report ?? reportFile(day, process.cwd());
  const report = await writeDayReport(stack, day, file);
  const opener = options.open ? openerFor(screens, options) : undefined;
  const isOpen = opener !== undefined && (await openPage(opener, file));
  stdout.write(`The day's report: ${file}${isOpen ? " (shown in the browser)" : ""}\n`);

  const differences = results.flatMap(({ job, problem }) =>
    problem === undefined ? [] : [`${job.workflow}: ${problem}`],
  );
  for await (const chain of verifiedChains(ledger)) {
    stdout.write(`The ledger, ${plainText(chainText(chain))}\n`);
    if (chain.findings.length > 0) differences.push(`the ledger of ${chain.businessId} was altered`);
  }
  const books = readServiceBooks(stack);
  differences.push(...compareWithLedger(books, await readLedgerContents(stack, report), day));
  if (differences.length === 0) {
    stdout.write(`${stdoutPaint(verdict(books), "green")}\n`);
    return 0;
  }
  stderr.write(
    `${paint("Not as it should be:", "red")}\n${differences.map((line) => `  ${plainLine(line)}\n`).join("")}`,
  );
  return differences.length;
}

const NAME_WIDTH = "processSyncBatch".length;

function openerFor({ stdout }: Screens, { env }: BackOfficeOptions): [string, ...string[]] | undefined {
  return pageOpener({ platform: process.platform, env, isTerminal: stdout.isTTY === true });
}

function verdict({ items, purchases, billPayments, syncBatches }: ServiceBooks): string {
  const batches = syncBatches.filter(({ processed }) => processed > 0).length;
  const counts = [
    `${items.length} items`,
    `${purchases.length} purchases`,
    `${billPayments.length} bill payments`,
    `${batches} sync ${batches === 1 ? "batch" : "batches"}`,
  ];
  return `The ledger and the simulator's books agree: ${counts.join(", ")}, and the report's totals to the cent.`;
}
