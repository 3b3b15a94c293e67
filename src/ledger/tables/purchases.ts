import type { ColumnType, Generated } from "kysely";

import type { EventNumber, Numeric, Written } from "./columns.ts";

export interface PurchasesTable extends Written {
  connection: string;
  /** `-` when the key's reach names the business. */
  business_id: string;
  purchase_id: string;
  status: string;
  confirmation_error: string | null;
  supplier_name: string | null;
  supplier_pin: string | null;
  supplier_invoice_number: string;
  /** As the service writes it: `YYYY-MM-DD`. */
  invoice_date: string;
  branch: string | null;
  subtotal: Numeric;
  vat: Numeric;
  total: Numeric;
  /** Of everything but status and confirmation error. */
  content_hash: string;
  /** Canonical JSON of what the service said last. */
  body: string;
  first_seen_at: Generated<Date>;
  changed_at: Generated<Date>;
  /** When what stands here was asked for, by the database's clock. */
  observed_at: Date;
  /** The synchronisation that saw it last. */
  seen_by: string | null;
  /** The last one that saw it in the whole list, in its order. */
  listed_by: string | null;
  /** A synchronisation that listed it has come to its end: what stands below it in the list was known then. */
  grounded: Generated<boolean>;
  missing_since: Date | null;
  /** The event that the row was written with. */
  event_number: EventNumber;
}

interface PurchaseSyncsTable {
  sync_id: string;
  connection: string;
  business_id: string;
  kind: "recent" | "full" | "window";
  started_at: Generated<Date>;
  completed_at: ColumnType<Date | null, never, unknown>;
}

/** Supplier invoices. */
export interface PurchaseTables {
  purchases: PurchasesTable;
  purchase_syncs: PurchaseSyncsTable;
}
