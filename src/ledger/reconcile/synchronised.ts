import type { PaymentComparison } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Business } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";

/**
 * Whether the ledger has all invoices of the business and all payments of the accounting connection, and as of when:
 * what it does not have yet would be found missing.
 */
export async function synchronised(db: Queries, business: Business, accounting: string): Promise<PaymentComparison> {
  const invoicesAsOfMs = await asOf(db, "purchases", business);
  const paymentsAsOfMs = await asOf(db, "bill_payments", { connection: accounting });
  if (invoicesAsOfMs !== undefined && paymentsAsOfMs !== undefined) {
    return { kind: "compared", accounting, invoicesAsOfMs, paymentsAsOfMs };
  }
  const lacking = [
    ...(invoicesAsOfMs === undefined
      ? [{ what: "supplier invoices of the business", command: "fiscalflow purchases sync --wait" }]
      : []),
    ...(paymentsAsOfMs === undefined
      ? [
          {
            what: `bill payments of connection ${accounting}`,
            command: `fiscalflow bill-payments sync --connection ${accounting} --full --wait`,
          },
        ]
      : []),
  ];
  return {
    kind: "not-compared",
    why: "not-synchronised",
    reason: `The ledger never had all ${lacking.map(({ what }) => what).join(", nor all ")}.`,
    nextStep: `Synchronise first: ${lacking.map(({ command }) => command).join("; ")}`,
  };
}

/** One that is settled: what the service counts, where it does, is what the ledger has. A window leaves out what is older. */
async function asOf(
  db: Queries,
  collection: "purchases" | "bill_payments",
  whose: Business,
): Promise<number | undefined> {
  const row = await db
    .selectFrom("syncs")
    .select(({ fn }) => fn.max("started_at").as("as_of"))
    .where((eb) => eb.and({ collection, ...businessColumns(whose) }))
    .where("kind", "<>", "window")
    .where("settled", "=", true)
    .executeTakeFirst();
  return row?.as_of?.getTime();
}
