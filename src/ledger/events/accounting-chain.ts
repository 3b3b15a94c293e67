import { NO_BUSINESS } from "../../contract/index.ts";
import type { Business } from "./chain.ts";

const ACCOUNTING = "accounting/";

/**
 * The chain of an accounting connection. It has no business, and its name may also be that of a compliance connection,
 * whose chains are others; no connection's name has a slash.
 */
export function accountingChain(connection: string): Business {
  return { connection: `${ACCOUNTING}${connection}` };
}

/** Undefined for a chain that is not an accounting connection's. */
export function connectionOfChain(chain: { connection: string; business_id: string }): string | undefined {
  if (!chain.connection.startsWith(ACCOUNTING) || chain.business_id !== NO_BUSINESS) return undefined;
  return chain.connection.slice(ACCOUNTING.length);
}
