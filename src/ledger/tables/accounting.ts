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
  /** The round of a full synchronisation in whose list of all it stood last; in a list of a status; in no such list. */
  listed_by: string | null;
  status_listed_by: string | null;
  unlisted_by: string | null;
  missing_since: Date | null;
  event_number: EventNumber;
}

export interface BillPaymentSyncsTable {
  sync_id: string;
  connection: string;
  kind: "recent" | "full";
  started_at: Generated<Date>;
  completed_at: Date | null;
  /** Whether its passes agreed. */
  settled: boolean | null;
  known_until: Date | null;
  /** How many rows of each list could not be read and are not in `bill_payments`. */
  left_out: number[] | null;
}

/** Webhooks that were passed on. */
export interface WebhookEventsTable {
  connection: string;
  event_id: string;
  seen_at: Generated<Date>;
}
