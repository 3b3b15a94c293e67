import type { Config } from "../config/index.ts";
import { type Ledger, openLedger } from "../ledger/index.ts";

/**
 * The ledger that the configuration names: a server, or the database that the product brings. Nothing is connected yet.
 * @param operationTimeoutMs as that of `openLedger`
 */
export function ledgerOf(
  { ledger: { url, home } }: Pick<Config, "ledger">,
  onProgress?: (line: string) => void,
  operationTimeoutMs?: number,
): Ledger {
  return openLedger({ home, ...(url && { url: url.reveal() }), ...(onProgress && { onProgress }), operationTimeoutMs });
}

/**
 * Makes the tables on the server that the configuration names, or brings them to this version. The database that the
 * product brings needs no setup: the first process makes its tables.
 * @returns false where the configuration names no server
 * @throws LedgerUnavailableError, LedgerError
 */
export async function setUpLedger({ ledger: { url, ownerUrl = url, home } }: Pick<Config, "ledger">): Promise<boolean> {
  if (!url) return false;
  const ledger = openLedger({ home, url: url.reveal(), ownerUrl: ownerUrl?.reveal() });
  try {
    await ledger.ready();
    return true;
  } finally {
    await ledger.close();
  }
}
