import { type RawBuilder, sql } from "kysely";

import type { Queries } from "../database.ts";
import { readOddDates } from "./odd-dates.ts";
import type { BusinessFigures, Days, SignedFigures } from "./report.ts";
import { type Chain, HAS_PIN, PIN_MALFORMED } from "./signed.ts";
import { readTaxes, readTotals } from "./totals.ts";

/** What a report and a list of documents say alike of a business. */
export async function readFigures(db: Queries, chain: Chain, days: Days): Promise<BusinessFigures> {
  const of = async (which: RawBuilder<boolean>): Promise<SignedFigures> => ({
    ...(await readTotals(db, chain, days, which)),
    taxes: await readTaxes(db, chain, days, which),
  });
  return {
    connection: chain.connection,
    businessId: chain.business_id,
    ...(await of(sql`true`)),
    buyers: {
      withPin: await of(HAS_PIN),
      withoutPin: await of(sql`not ${HAS_PIN}`),
      malformedPin: await readTotals(db, chain, days, sql`coalesce(${PIN_MALFORMED}, false)`),
    },
    oddDates: await readOddDates(db, chain, days),
  };
}
