/**
 * The demo: the product's processes on one host, the sales of `examples/`, and a comparison with the simulator's books.
 * The service that answers is in `src/dev/simulator/`, and the commands that the demo shows are handed in: it imports
 * nothing of the command line.
 *
 * Stands on: `src/callbacks`, `src/config`, `src/contract`, `src/contract/schema`, `src/dev`, `src/dev/simulator`,
 * `src/ledger` (types), `src/servers`, `src/starter`, `src/worker`.
 */
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pino } from "pino";

import { nairobiDate, plainText, shellWord } from "../../contract/index.ts";
import { builtWorkflowBundle } from "../../worker/bundle-workflows.ts";
import { installRuntime } from "../../worker/install-runtime.ts";
import { exportLines } from "../export-lines.ts";
import { compareWithBooks } from "./compare-with-books.ts";
import { type DemoTemporal, demoTemporal } from "./demo-temporal.ts";
import { examplesFolder, readDemoPlan } from "./plan.ts";
import { runSales, saleLine, saleWatch, type SaleProgress, type Screen } from "./run-sales.ts";
import { type DemoStack, startDemoStack } from "./start-demo-stack.ts";

export interface DemoOptions {
  /** Folder of the sales and their scenario; default: the package's examples. */
  readonly examples?: string | undefined;
  /** Leave everything running until the signal. */
  readonly keep: boolean;
}

/** What the demo has of the outside world. */
export interface DemoContext {
  readonly env: NodeJS.ProcessEnv;
  /** Results. */
  readonly stdout: Screen;
  /** What is going on. */
  readonly stderr: Screen;
  readonly signal: AbortSignal;
  /** Runs a command of the product. */
  command(
    args: readonly string[],
    env: NodeJS.ProcessEnv,
  ): Promise<{ succeeded: boolean; stdout: string; stderr: string }>;
}

const SDK_LINES = 10;

/**
 * The `demo` command, from nothing to the sales, the back office and the day's report. Whatever ends it, everything that
 * it started is ended before it returns. Returns whether everything ended as it should have. @throws what kept it from
 * running
 */
export async function runDemo(options: DemoOptions, context: DemoContext): Promise<boolean> {
  const { signal, stderr } = context;
  const note = (text: string): void => void stderr.write(`${plainText(text)}\n`);
  const ends: (() => Promise<unknown>)[] = [];
  // What Temporal's SDK says is kept from the screen, and shown where something fails.
  const sdk: string[] = [];
  try {
    return await demo(options, context, { note, ends, sdk });
  } catch (error) {
    if (!signal.aborted) note(sdk.slice(-SDK_LINES).join(""));
    throw error;
  } finally {
    if (signal.aborted) note("Ending what was started …");
    // What fails keeps nothing else from being ended.
    for (const end of ends.toReversed()) await end().catch((error: unknown) => note(String(error)));
  }
}

async function demo(
  options: DemoOptions,
  context: DemoContext,
  { note, ends, sdk }: { note: (text: string) => void; ends: (() => Promise<unknown>)[]; sdk: string[] },
): Promise<boolean> {
  const { signal, env, stdout, stderr } = context;
  const startedAtMs = Date.now();
  const workflowBundle = builtWorkflowBundle();
  const folder = options.examples ?? examplesFolder();
  await readDemoPlan(folder);
  note("starting Temporal: takes seconds; at the first run, minutes where it has to be downloaded or built");
  const temporal = await demoTemporal({ env, signal, onProgress: note });
  ends.push(() => temporal.stop());
  note(`Temporal is ready${temporal.uiUrl === undefined ? "" : `; its UI is at ${temporal.uiUrl}`}`);
  const plan = await readDemoPlan(folder, temporal.isOwn ? undefined : startedAtMs.toString(36));
  signal.throwIfAborted();
  // Immediately before the first connection: unused, the runtime holds the process open.
  await installRuntime({ log: pino({ level: "warn" }, { write: (line) => void sdk.push(line) }) });
  const stack = await startDemoStack({ plan, temporal, workflowBundle, ends, signal, onProgress: note });
  signal.throwIfAborted();
  note("starting the workers");
  await stack.workers.start();
  note(`${plan.examples.length} sales of ${plan.business.name}, ${secondsSince(startedAtMs)} after the start:`);

  const sales = await runSales(stack, { signal, onChange: saleWatch(stderr) });
  // At a terminal they stand there already.
  if (!stdout.isTTY) for (const sale of sales) stdout.write(`${saleLine(sale, sales)}\n`);
  const books = stack.simulator.books();
  const problems = compareWithBooks(plan, sales, books);
  const counts = `${books.documents.length} documents and ${books.movements.length} stock movements`;
  if (problems.length === 0) stdout.write(`The simulator's books agree: ${counts}, each once.\n`);

  const environment = { ...temporal.environment, ...stack.environment };
  const run = async (...args: readonly string[]): Promise<void> => {
    const end = await context.command(args, environment);
    stdout.write(plainText(`\n$ npx fiscalflow ${args.join(" ")}\n${end.stdout.trimEnd()}\n`));
    // Findings are what the reconciliation is there to show.
    const hasFindings = args[0] === "reconcile" && end.stdout !== "";
    if (!end.succeeded && !hasFindings) problems.push(`${args.join(" ")}: ${end.stderr.trim()}`);
  };
  await doBackOffice(stack, run, context);
  for (const problem of problems) note(`Not as it should be: ${problem}`);
  note(`\nThe demo took ${secondsSince(startedAtMs)}.`);
  if (options.keep) {
    const [needing] = sales.filter(({ example }) => example.expected.attention !== undefined);
    if (needing) await run("sale", "show", needing.example.invoice);
    stdout.write(plainText(howToGoOn(stack, temporal, environment, needing)));
    signal.throwIfAborted();
    await Promise.race([once(signal, "abort"), stack.workers.failed]);
  }
  return problems.length === 0;
}

function secondsSince(startedAtMs: number): string {
  return `${((Date.now() - startedAtMs) / 1_000).toFixed(1)} s`;
}

type Run = (...args: readonly string[]) => Promise<void>;

/** The jobs that have no sale of their own, in the order of a shop's evening, and the day's report. */
async function doBackOffice({ plan }: DemoStack, run: Run, { stdout }: DemoContext): Promise<void> {
  const [batch] = plan.scenario.accounting.syncBatches;
  await run("items", "register", "--wait");
  await run("purchases", "sync", "--wait");
  await run("bill-payments", "sync", "--wait");
  if (batch) await run("batch", "process", batch.id, "--wait");
  await run("reconcile", "--wait");
  await run("ledger", "verify");
  // It outlives the demo, and the next one of that day replaces it.
  const folder = resolve(".fiscalflow", "demo");
  await mkdir(folder, { recursive: true });
  const file = join(folder, `day-${nairobiDate(Date.now())}.html`);
  await run("report", "day", "--out", file);
  stdout.write(`The day's report: ${file}\n`);
}

/** What an operator can do with a demo that is left running, in commands that can be copied. */
function howToGoOn(
  { plan, simulator }: DemoStack,
  { uiUrl, namespace }: DemoTemporal,
  environment: Readonly<Record<string, string | undefined>>,
  needing: SaleProgress | undefined,
): string {
  const [first] = plan.examples.filter(({ input }) => input.lines !== undefined);
  const sale = JSON.stringify({ ...first?.input, traderInvoiceNumber: "DUKA-2001", businessId: plan.business.id });
  // The user's own secrets are not to be shown.
  const isShown = ([name]: [string, unknown]): boolean => !/^TEMPORAL_(?!ADDRESS|NAMESPACE)/.test(name);
  const shown = Object.fromEntries(Object.entries(environment).filter(isShown));
  const inNamespace = `${uiUrl ?? ""}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  return [
    ...(uiUrl && needing ? [`${inNamespace}/${encodeURIComponent(needing.workflowId)}`] : []),
    "",
    "Everything is left running until Ctrl-C. To start another sale from another terminal:",
    "",
    ...exportLines(shown).map((line) => `  ${line}`),
    `  echo ${shellWord(sale)} | npx fiscalflow sale start - --wait`,
    "",
    "To see how a sale copes with trouble (--help lists what can be triggered):",
    "",
    "  npx fiscalflow simulator trigger rejected",
    "",
    ...(uiUrl ? [`Temporal's UI: ${inNamespace}`] : []),
    `The simulator's books: ${simulator.url}/_simulator/books`,
    "",
  ].join("\n");
}
