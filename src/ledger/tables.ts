import type { AccountingTables } from "./tables/accounting.ts";
import type { ClaimTables } from "./tables/claims.ts";
import type { EventTables } from "./tables/events.ts";
import type { ItemTables } from "./tables/items.ts";
import type { ObservationTables } from "./tables/observations.ts";
import type { PurchaseTables } from "./tables/purchases.ts";
import type { ReconcileTables } from "./tables/reconcile.ts";
import type { RecordTables } from "./tables/records.ts";

/** All tables that are asked by kysely, by what they are about; `quota_windows` is asked in SQL alone. */
export interface Tables
  extends
    AccountingTables,
    ClaimTables,
    EventTables,
    ItemTables,
    ObservationTables,
    PurchaseTables,
    ReconcileTables,
    RecordTables {}
