import { existsSync } from "node:fs";

import type { Config } from "../../config/index.ts";
import { LedgerUnavailableError } from "../../ledger/index.ts";
import { ledgerOf } from "../../worker/ledger-of.ts";
import { fault, type Finding, ok } from "./finding.ts";

/**
 * Whether the database of the claims answers, and has its tables. The product's own is looked at where there is one already: a check does
 * not make it.
 */
export async function checkLedger(config: Pick<Config, "ledger">): Promise<Finding> {
  const { url, home } = config.ledger;
  if (!url && !existsSync(home)) {
    return ok(
      "ledger",
      `the first worker brings up a PostgreSQL in ${home}, for this host; several hosts share one by LEDGER_URL`,
    );
  }
  const ledger = ledgerOf(config);
  try {
    await ledger.ready();
    return ok("ledger", url ? `${new URL(url.reveal()).host} answers` : `the PostgreSQL in ${home} answers`);
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    const todo = "until it answers no stock movement is sent; sales under a trusted key go on";
    return fault("ledger", error.message, todo);
  } finally {
    await ledger.close();
  }
}
