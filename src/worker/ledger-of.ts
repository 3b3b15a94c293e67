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
