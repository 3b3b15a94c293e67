import { loadConfig, plaintextProblem, postgresProblem } from "../../config/index.ts";
import { openLedger, type VerifiedChain } from "../../ledger/index.ts";
import { type CliContext, CommandFailedError, UsageError } from "../context.ts";
import { counted, printNote, printResult } from "../output.ts";
import { withLedger } from "../with-ledger.ts";

export interface MoveFlags {
  to: string;
  json?: boolean;
}

/** Moves the embedded ledger to a server, and verifies there what it has moved. */
export async function move(context: CliContext, { to, json = false }: MoveFlags): Promise<void> {
  // The database that the product brings is the one that is moved, whatever else is configured.
  const ofHome = { ...context, env: { ...context.env, LEDGER_URL: undefined, LEDGER_OWNER_URL: undefined } };
  const { allowPlaintext, url } = loadConfig({ env: ofHome.env }).ledger;
  const problem = postgresProblem(to) ?? (allowPlaintext ? undefined : plaintextProblem(to));
  if (problem !== undefined) throw new UsageError(`--to: ${problem}.`);
  if (url)
    throw new UsageError(
      "The configuration file names a server as `ledger.url`: only the ledger in FISCALFLOW_HOME is moved.",
    );
  const { rows, place } = await withLedger(
    ofHome,
    async (ledger) => {
      const progress = (table: string, count: number): void => {
        if (!json && count % 50_000 === 0) printNote(context, `${table}: ${count} rows`);
      };
      return { place: await ledger.place(), rows: await ledger.moveTo(to, progress) };
    },
    { quiet: json },
  );
  const moved = openLedger({ url: to, home: "" });
  const chains: VerifiedChain[] = [];
  try {
    for await (const chain of moved.verify()) chains.push(chain);
    const findings = chains.reduce((sum, chain) => sum + chain.findings.length + chain.moreFindings, 0);
    const { events } = await moved.place();
    if (findings > 0 || events !== place.events)
      throw new CommandFailedError(
        `What was moved is not what there was: ${counted(findings, "finding")}, ${events} of ${place.events} events. Run \`fiscalflow ledger verify\` on both; the old ledger is whole.`,
      );
  } finally {
    await moved.close();
  }
  const lines = Object.entries(rows).map(([table, count]) => `${table}: ${counted(count, "row")}`);
  printResult(
    context,
    json,
    { rows, events: place.events, chains: chains.length },
    [...lines, `${counted(chains.length, "chain")} verified: ${counted(place.events, "event")}, unaltered.`].join("\n"),
  );
  printNote(
    context,
    "Set LEDGER_URL to the server, with the workers' login, run `fiscalflow ledger restored --lossless`, and start the workers. The old ledger takes no worker any more.",
  );
}
