import type { Generated } from "kysely";

import type { EventNumber, NumericOrNull, Written } from "./columns.ts";

export interface BillPaymentsTable extends Written {
  connection: string;
  bill_payment_id: string;
  /** Null: in no list of a status. */
  sync_status: string | null;
  status_observed_at: Date | null;
  supplier_id: string | null;
  supplier_name: string | null;
  account_id: string | null;
  account_name: string | null;
  payment_method_id: string | null;
  payment_method_name: string | null;
  bill_id: string | null;
  bill_code: string | null;
  total_amount: NumericOrNull;
  currency: string | null;
  currency_rate: NumericOrNull;
  payment_date: string | null;
  bill_payment_code: string | null;
  note: string | null;
  service_created_at: Date | null;
  service_updated_at: Date | null;
  content_hash: string;
  /** Canonical JSON of the whole, unknown fields among it. */
  body: string;
  first_seen_at: Generated<Date>;
  changed_at: Generated<Date>;
  observed_at: Date;
  missing_since: Date | null;
  event_number: EventNumber;
}

/** Webhooks that were passed on. */
export interface WebhookEventsTable {
  connection: string;
  event_id: string;
  seen_at: Generated<Date>;
}
