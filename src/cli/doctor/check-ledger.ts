import { existsSync } from "node:fs";

import type { Config } from "../../config/index.ts";
import { type Ledger, LedgerUnavailableError } from "../../ledger/index.ts";
import { ledgerOf } from "../../worker/ledger-of.ts";
import { endedLine } from "../sale/ended-line.ts";
import { branchHoldFindings } from "./branch-hold-findings.ts";
import { disputeFindings, secondDocumentFindings } from "./dispute-findings.ts";
import { fault, type Finding, ok, warning } from "./finding.ts";
import { observationFindings } from "./observation-findings.ts";

type CheckedConfig = Pick<Config, "ledger" | "compliance" | "accounting">;

/** What was not seen for so long is over. */
const OBSERVED_WITHIN_DAYS = 7;
/** The reports of its day name it for ever. */
const DISPUTED_WITHIN_DAYS = 30;

/**
 * Whether the database of the claims answers, and has its tables. The product's own is looked at where there is one
 * already: a check does not make it. And what holds back stock movements, and what workers have seen in answers that
 * does not fit the dialect.
 */
export async function checkLedger(config: CheckedConfig): Promise<Finding[]> {
  const { url, home } = config.ledger;
  if (!url && !existsSync(home)) {
    return [
      ok(
        "ledger",
        `the first worker brings up a PostgreSQL in ${home}, for this host; several hosts share one by LEDGER_URL`,
      ),
    ];
  }
  const ledger = ledgerOf(config);
  try {
    await ledger.ready();
    const answers = ok("ledger", url ? `${new URL(url.reveal()).host} answers` : `the PostgreSQL in ${home} answers`);
    return [
      answers,
      await endedFinding(ledger),
      ...branchHoldFindings(await ledger.stock.openBranchHolds(), config),
      ...disputeFindings(await ledger.stock.disputes(DISPUTED_WITHIN_DAYS)),
      ...secondDocumentFindings(await ledger.documents.contradicted(DISPUTED_WITHIN_DAYS)),
      ...observationFindings(await ledger.observations.list(OBSERVED_WITHIN_DAYS), config),
    ];
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    const todo = "until it is ready, nothing is sent that must not be sent twice; sales wait, and go on by themselves";
    return [fault("ledger", error.message, todo)];
  } finally {
    await ledger.close();
  }
}

/** What is closed needs nobody by itself, and waits until somebody restarts it. */
async function endedFinding(ledger: Ledger): Promise<Finding> {
  const line = await endedLine(ledger, {});
  if (line === undefined) return ok("ended sales", "none is to be restarted");
  return warning("ended sales", line, "see why each ended, and restart it: fiscalflow sale restart");
}
