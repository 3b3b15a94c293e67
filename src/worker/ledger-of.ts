import type { Config } from "../config/index.ts";
import { type Ledger, openLedger } from "../ledger/index.ts";

/** The ledger that the configuration names: a server, or the database that the product brings. Nothing is connected yet. */
export function ledgerOf(
  { ledger: { url, home } }: Pick<Config, "ledger">,
  onProgress?: (line: string) => void,
): Ledger {
  return openLedger({ home, ...(url && { url: url.reveal() }), ...(onProgress && { onProgress }) });
}
