import type { KeptItemOutcome } from "../../ledger/index.ts";
import type { CliContext } from "../context.ts";
import { printResult } from "../output.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import { withLedger } from "../with-ledger.ts";
import { businessOf } from "./business-of.ts";
import { itemLine } from "./jobs.ts";

const PAGE = 500;

/** From the ledger: no call of the API, and no Temporal. */
export async function reportItems(context: CliContext, flags: Scope & ResultFlags): Promise<void> {
  await withLedger(
    context,
    async (ledger, config) => {
      const business = businessOf(config, flags);
      const items: KeptItemOutcome[] = [];
      for (let page: KeptItemOutcome[] | undefined; page === undefined || page.length === PAGE;) {
        page = await ledger.items.page(business, {
          kinds: ["needs-data", "refused", "unknown", "unclear"],
          afterItem: items.at(-1)?.item,
          most: PAGE,
        });
        items.push(...page);
      }
      const text = items.length === 0 ? "No item is known to lack anything." : items.map(itemLine).join("\n");
      printResult(context, flags.json, { ...business, items }, text);
    },
    { forMachines: flags.json, mayBeEmpty: true },
  );
}
