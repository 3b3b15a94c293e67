import type { PaymentComparison } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Business } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";

/**
 * Whether the ledger has all invoices of the business and all payments of the accounting connection, and as of when:
 * what it does not have yet would be found missing.
 */
export async function synchronised(db: Queries, business: Business, accounting: string): Promise<PaymentComparison> {
  const invoicesAsOfMs = await invoicesAsOf(db, business);
  const paymentsAsOfMs = await paymentsAsOf(db, accounting);
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

/**
 * A first recent synchronisation knows no ground and reads the whole list, as a full one does; a window leaves out what
 * is older.
 */
async function invoicesAsOf(db: Queries, business: Business): Promise<number | undefined> {
  const row = await db
    .selectFrom("purchase_syncs")
    .select(({ fn }) => fn.max("started_at").as("as_of"))
    .where((eb) => eb.and(businessColumns(business)))
    .where("kind", "<>", "window")
    .where("completed_at", "is not", null)
    .executeTakeFirst();
  return row?.as_of?.getTime();
}

/** One that is settled: what the service counts is what the ledger holds. */
async function paymentsAsOf(db: Queries, accounting: string): Promise<number | undefined> {
  const row = await db
    .selectFrom("bill_payment_syncs")
    .select(({ fn }) => fn.max("started_at").as("as_of"))
    .where("connection", "=", accounting)
    .where("settled", "=", true)
    .where("completed_at", "is not", null)
    .executeTakeFirst();
  return row?.as_of?.getTime();
}
