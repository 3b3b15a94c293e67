import { plainText } from "../../contract/plain-text.ts";
import { loadTemporalConnection } from "../../config/index.ts";
import { builtWorkflowBundle } from "../../worker/bundle-workflows.ts";
import { CommandFailedError } from "../../cli/cli-error.ts";
import type { CliContext } from "../../cli/context.ts";
import { interruptible, untilAborted } from "../../cli/interruptible.ts";
import { printNote } from "../../cli/output.ts";
import { showBackOffice } from "./back-office/show-back-office.ts";
import { Cleanup } from "./cleanup.ts";
import { DemoInterruptedError } from "./demo-error.ts";
import type { DemoPlan } from "./demo-plan.ts";
import type { DemoTemporal } from "./demo-temporal.ts";
import { howToGoOn } from "./how-to-go-on.ts";
import { readDemoPlan } from "./read-demo-plan.ts";
import { renumber } from "./renumber.ts";
import { paintFor } from "./screens.ts";
import { SdkLog } from "./sdk-log.ts";
import { showSales } from "./show-sales.ts";
import { startDemoStack } from "./start-demo-stack.ts";
import { startOwnTemporal } from "./start-own-temporal.ts";
import { useGivenTemporal } from "./use-given-temporal.ts";

interface DemoOptions {
  /** Folder of the sales and their scenario. */
  readonly examples: string;
  /** Leave everything running until Ctrl-C. */
  readonly keep: boolean;
  /** Of a server that the environment names. */
  readonly uiUrl?: string;
  /** Absolute path of the report's page; default: a place that outlives the demo. */
  readonly report?: string;
  /** Show the page in a browser where somebody sits before one. */
  readonly open: boolean;
}

/**
 * The `demo` command, from nothing to the tables and the page. Whatever ends it, everything that it started is ended
 * before it returns.
 * @throws CommandFailedError where something ended otherwise than it should have, DemoInterruptedError, and what kept
 * it from running
 */
export async function runDemo(options: DemoOptions, context: CliContext): Promise<void> {
  const { signal } = context;
  const cleanup = new Cleanup();
  const sdk = new SdkLog();
  try {
    await demo(options, context, cleanup, sdk);
  } catch (error) {
    if (error instanceof CommandFailedError) throw error;
    if (signal.aborted) throw new DemoInterruptedError();
    for (const line of sdk.lastLines) printNote(context, `Temporal's SDK: ${line}`);
    throw error;
  } finally {
    if (signal.aborted) printNote(context, "Ending what was started …");
    for (const problem of await cleanup.run()) printNote(context, problem);
  }
}

async function demo(options: DemoOptions, context: CliContext, cleanup: Cleanup, sdk: SdkLog): Promise<void> {
  const { signal, env } = context;
  const clock = new PhaseClock();
  const note = (text: string): void => printNote(context, text);
  const workflowBundle = builtWorkflowBundle();
  const written = await readDemoPlan(options.examples, process.cwd());
  note("starting Temporal: takes seconds; at the first run, minutes where it has to be downloaded or built");
  const temporal = await temporalFor(options, context, cleanup);
  const plan = temporal.own ? written : renumber(written, Date.now().toString(36));
  note(clock.lap(temporalLine(temporal)));
  signal.throwIfAborted();
  await sdk.install();
  const stack = await startDemoStack({ plan, temporal, workflowBundle, cleanup, signal, onProgress: note });
  note(clock.lap(`simulator at ${stack.simulator.url} and callback receiver are ready`));
  signal.throwIfAborted();
  note("starting the workers");
  await stack.workers.start();
  note(clock.lap(`workers are ready; ${clock.totalSeconds} s since the start`));
  note(businessLine(plan));

  const { stdout, stderr } = context;
  const screens = { stdout, stderr, signal, paint: paintFor(stderr, env), stdoutPaint: paintFor(stdout, env) };
  const salesSinceMs = Date.now();
  const { sales, differences: inBooks } = await showSales(stack, screens);
  note(`\n${clock.lap("the sales are through")}; and now the back office:`);
  const { report, open } = options;
  const inLedger = await showBackOffice(stack, screens, { salesSinceMs, report, open, env });
  note(`${clock.lap("the back office is through")}; ${clock.totalSeconds} s since the start`);
  if (options.keep) {
    context.stdout.write(`\n${plainText(howToGoOn(stack, sales))}\n`);
    await Promise.race([untilAborted(signal), stack.workers.failed]);
  }
  if (inBooks + inLedger > 0) throw new CommandFailedError("");
}

async function temporalFor(options: DemoOptions, context: CliContext, cleanup: Cleanup): Promise<DemoTemporal> {
  const { env, signal } = context;
  const given = loadTemporalConnection({ env });
  const uiUrl = options.uiUrl ?? (env["TEMPORAL_UI_URL"] || undefined);
  if (given.addressGiven) return await interruptible(() => useGivenTemporal(given, { env, uiUrl }), signal);
  const onProgress = (line: string): void => printNote(context, line);
  return await startOwnTemporal({ env, signal, cleanup, onProgress });
}

function temporalLine({ own, uiUrl, connectionOptions, namespace }: DemoTemporal): string {
  const which = own ? "Temporal" : `Temporal at ${connectionOptions.address ?? ""}, namespace ${namespace},`;
  return `${which} is ready${uiUrl === undefined ? "" : `; its UI is at ${uiUrl}`}`;
}

function businessLine({ examples, scenario }: DemoPlan): string {
  const [business] = scenario.businesses;
  return `${examples.length} sales of ${business?.name ?? "the business"}:`;
}

/** Measures how long each phase of the start takes, so that a slow one can be named. */
class PhaseClock {
  readonly #nowMs: () => number;
  readonly #startedAtMs: number;
  #lastAtMs: number;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
    this.#startedAtMs = nowMs();
    this.#lastAtMs = this.#startedAtMs;
  }

  /** What has come about, and how long it took since the last: "Temporal is ready (0.9 s)". */
  lap(what: string): string {
    const nowMs = this.#nowMs();
    const seconds = (nowMs - this.#lastAtMs) / 1_000;
    this.#lastAtMs = nowMs;
    return `${what} (${seconds.toFixed(1)} s)`;
  }

  get totalSeconds(): string {
    return ((this.#nowMs() - this.#startedAtMs) / 1_000).toFixed(1);
  }
}
