import { type Config, loadConfig } from "../config/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { hasData } from "../servers/postgres-files.ts";
import { ledgerOf } from "../worker/ledger-of-config.ts";
import { type CliContext, CommandFailedError, interruptible, UsageError } from "./context.ts";
import { printNote } from "./output.ts";

/** Somebody at a terminal waits for the answer, and no sale does. */
const PATIENCE_MS = 10_000;

const HOW_TO_NAME_IT = "Set LEDGER_URL, or FISCALFLOW_HOME on the worker's host, to what the worker has";

interface LedgerReading {
  /** The output is for a program: which ledger was read is not printed. */
  quiet?: boolean | undefined;
  /** An empty ledger is an answer too: somebody waits for its first event, or compares it with what it had. */
  mayBeEmpty?: boolean;
  /** With the login that owns the tables. */
  asOwner?: boolean;
}

/**
 * Reads the ledger that the configuration names. Its own PostgreSQL is started where no process has it running, and
 * never made: a new one would answer that nothing was sold.
 * @throws UsageError where there is none, CommandFailedError where nothing was ever written, ConfigError,
 * LedgerUnavailableError, and what the work throws
 */
export async function withLedger<Result>(
  context: CliContext,
  work: (ledger: Ledger, config: Config) => Promise<Result>,
  { quiet = false, mayBeEmpty = false, asOwner = false }: LedgerReading = {},
): Promise<Result> {
  const config = loadConfig({ env: context.env });
  const { url, home } = config.ledger;
  if (!url && !hasData(home))
    throw new UsageError(
      `There is no ledger in ${home}: no worker has written to it. ${HOW_TO_NAME_IT} (npm run demo -- --keep prints the export lines to paste first).`,
    );
  const where = url ? placeOf(url.reveal()) : `the PostgreSQL in ${home}`;
  const ledger = ledgerOf(config, (line) => printNote(context, line), { operationTimeoutMs: PATIENCE_MS, asOwner });
  try {
    return await interruptible(async () => {
      await ledger.ready();
      if (!mayBeEmpty && !(await ledger.events.any()))
        throw new CommandFailedError(`The ledger is empty: nothing was ever written to ${where}. ${HOW_TO_NAME_IT}.`);
      if (!quiet) printNote(context, `Ledger: ${where}`);
      return await work(ledger, config);
    }, context.signal);
  } finally {
    await ledger.close();
  }
}

/** Never the password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
