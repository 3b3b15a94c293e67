import type { Queries } from "../database.ts";
import { readOddDates } from "./odd-dates.ts";
import type { BusinessFigures, Days } from "./report.ts";
import type { Chain } from "./signed.ts";
import { readTaxes, readTotals } from "./totals.ts";

/** What a report and a list of documents say alike of a business. */
export async function readFigures(db: Queries, chain: Chain, days: Days): Promise<BusinessFigures> {
  return {
    connection: chain.connection,
    businessId: chain.business_id,
    ...(await readTotals(db, chain, days)),
    taxes: await readTaxes(db, chain, days),
    oddDates: await readOddDates(db, chain, days),
  };
}
