import { LedgerUnavailableError } from "../../src/ledger/index.ts";

/**
 * A new sale does not wait for long. Where the ledger is away, a sale without a trusted key waits for its claim before it is sent; one under
 * a trusted key is sent without, and then nobody but Temporal knows whether the number was used (docs/ledger.md).
 */
const LOOK_WITHIN_MS = 1_000;

/** What the ledger knows, and nothing where it is away. */
export async function lookedUpInTime<Kept>(look: (withinMs: number) => Promise<Kept>): Promise<Kept | undefined> {
  try {
    return await look(LOOK_WITHIN_MS);
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return undefined;
    throw error;
  }
}
