import { loadConfig } from "../../config/index.ts";
import type { ItemOutcomeKind } from "../../contract/index.ts";
import type { KeptItemOutcome } from "../../ledger/index.ts";
import { ledgerOf } from "../../worker/process.ts";
import type { CliContext } from "../context.ts";
import { interruptible } from "../interruptible.ts";
import { businessOf } from "../jobs/business-of.ts";
import { printNote, printResult } from "../output.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import { outcomeLine } from "./items-registration.ts";

const OPEN: readonly ItemOutcomeKind[] = ["needs-data", "refused", "unknown", "unclear"];
const PAGE = 500;

/** From the ledger: no call of the API, and no Temporal. */
export async function reportItems(context: CliContext, flags: Scope & ResultFlags): Promise<void> {
  const config = loadConfig({ env: context.env });
  const business = businessOf(config, flags);
  const ledger = ledgerOf(config, (line) => printNote(context, line));
  try {
    const outcomes = await interruptible(async () => {
      const all: KeptItemOutcome[] = [];
      for (let page: KeptItemOutcome[] | undefined; page === undefined || page.length === PAGE;) {
        page = await ledger.items.page(business, { kinds: OPEN, afterItem: all.at(-1)?.item, most: PAGE });
        all.push(...page);
      }
      return all;
    }, context.signal);
    const text = outcomes.length === 0 ? "No item is known to lack anything." : outcomes.map(outcomeLine).join("\n");
    printResult(context, flags.json, { ...business, items: outcomes }, text);
  } finally {
    await ledger.close();
  }
}
