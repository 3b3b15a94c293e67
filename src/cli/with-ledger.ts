import { type Config, loadConfig } from "../config/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { ledgerOf } from "../worker/ledger-of.ts";
import type { CliContext } from "./context.ts";
import { interruptible } from "./interruptible.ts";
import { printNote } from "./output.ts";

/** A person waits for the answer, and no sale does. */
const PATIENCE_MS = 10_000;

/**
 * Works with the ledger that the configuration names; its own PostgreSQL is started where no process has it running.
 * @throws ConfigError, LedgerUnavailableError, and what the work throws
 */
export async function withLedger<Result>(
  context: CliContext,
  work: (ledger: Ledger, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig({ env: context.env });
  const ledger = ledgerOf(config, (line) => printNote(context, line), PATIENCE_MS);
  try {
    return await interruptible(async () => {
      await ledger.ready();
      return await work(ledger, config);
    }, context.signal);
  } finally {
    await ledger.close();
  }
}
