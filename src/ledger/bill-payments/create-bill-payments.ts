import { type RawBuilder, sql } from "kysely";

import type { BillPayment, BillPaymentsHeld, BillPaymentStatus } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import type { KeptEntry, PeriodRequest } from "../synced/collection.ts";
import { createSynced, keptEntry, WHOLE_WITHIN_MS } from "../synced/create-synced.ts";
import { listPeriod } from "../synced/list-period.ts";
import { countBy } from "../synced/rows.ts";
import { verifyCollection } from "../synced/verify.ts";
import { BILL_PAYMENTS } from "./collection.ts";
import { BILL_PAYMENT_LIST, type BillPaymentsOfPeriod } from "./list.ts";

export interface KeptBillPayment extends KeptEntry<BillPayment> {
  /** As learned by asking for the payments of each status; null: in no such list. */
  syncStatus: BillPaymentStatus | null;
}

export type BillPayments = ReturnType<typeof createBillPayments>;

/** The bill payments of each accounting connection, as the service last showed them. */
export function createBillPayments(database: Database) {
  const { rows, history, ...synced } = createSynced(database, BILL_PAYMENTS);
  return {
    ...synced,
    history: (connection: string, id: string) => history({ connection }, id),
    async page(connection: string, request: Parameters<typeof rows>[1]): Promise<KeptBillPayment[]> {
      const page = await rows({ connection }, request);
      return page.map((row) => ({
        ...keptEntry<BillPayment>(row),
        syncStatus: row["sync_status"] as BillPaymentStatus | null,
      }));
    },
    /** Gives `read` those of a period, in pages and from one state; `read` runs once. @throws what `read` throws */
    list: <Result>(
      request: Omit<PeriodRequest, "businessId">,
      read: (connections: BillPaymentsOfPeriod[]) => Promise<Result>,
    ) => listPeriod(database, BILL_PAYMENT_LIST, request, read),
    summary: (connection: string) => database.transact((db) => summary(db, connection), WHOLE_WITHIN_MS),
    /** Holds each row against the events of its chain, which is named as it is: not as the connection. */
    async verify({ connection, businessId }: { connection: string; businessId: string }) {
      const chain = { connection, business_id: businessId };
      const { rows: billPayments, ...found } = await verifyCollection(database, BILL_PAYMENTS, chain);
      return { billPayments, ...found };
    },
  };
}

async function summary(db: Queries, connection: string): Promise<BillPaymentsHeld> {
  const count = (which: RawBuilder<unknown>) => countBy(db, BILL_PAYMENTS, { connection }, which, sql`sync_status`);
  const there = await count(sql`missing_since is null`);
  const gone = await count(sql`missing_since is not null`);
  return { ...there, missing: gone.total };
}
