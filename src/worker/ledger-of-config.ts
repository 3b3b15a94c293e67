import type { Config } from "../config/index.ts";
import { type Ledger, type LedgerOptions, openLedger } from "../ledger/index.ts";

/**
 * The ledger that the configuration names: a server, or the database that the product brings. Nothing is connected yet.
 * @param more as those of `openLedger`
 */
export function ledgerOf(
  { ledger: { url, ownerUrl = url, home } }: Pick<Config, "ledger">,
  onProgress?: (line: string) => void,
  more: Pick<LedgerOptions, "operationTimeoutMs" | "seen" | "asOwner"> = {},
): Ledger {
  const used = more.asOwner === true ? ownerUrl : url;
  return openLedger({ home, ...(used && { url: used.reveal() }), ...(onProgress && { onProgress }), ...more });
}

/**
 * Makes the tables on the server that the configuration names, or brings them to this version.
 * @returns false where it names none: the first process makes the tables of the database that the product brings
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
