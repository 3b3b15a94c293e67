import type { ColumnType, Generated } from "kysely";

import type { FindingKind, ItemOutcomeKind, SyncKind } from "../contract/index.ts";
import type * as accounting from "./tables/accounting.ts";
import type * as claims from "./tables/claims.ts";
import type { EventNumber, Json, Numeric, OfBusiness, Written } from "./tables/columns.ts";
import type * as records from "./tables/records.ts";

/** All tables that are asked by kysely; `quota_windows` is asked in SQL alone. */
export interface Tables {
  bill_payments: accounting.BillPaymentsTable;
  sync_batches: claims.SyncBatchesTable;
  webhook_events: accounting.WebhookEventsTable;
  movements: claims.MovementsTable;
  documents: records.DocumentsTable;
  event_heads: EventHeadsTable;
  events: EventsTable;
  item_registrations: ItemRegistrationsTable;
  observations: ObservationsTable;
  stock_branch_holds: StockBranchHoldsTable;
  purchases: PurchasesTable;
  reconcile_findings: ReconcileFindingsTable;
  syncs: SyncsTable;
}

/** The head of each chain, outside of the chain: a last event that is gone would not be missed otherwise. */
interface EventHeadsTable extends OfBusiness {
  count: ColumnType<string, number, number>;
  last_hash: string;
}

export interface EventsTable extends OfBusiness {
  number: ColumnType<string, number, never>;
  at: Date;
  kind: string;
  subject: string;
  key: string | null;
  workflow_id: string;
  run_id: string;
  /** Canonical JSON, kept as text: the hash is over these bytes. */
  content: string;
  salt: string;
  previous_hash: string;
  hash: string;
}

interface ItemRegistrationsTable extends OfBusiness, Written {
  /** The item's id, or the name that none has. */
  item: string;
  batch_id: string;
  outcome: ItemOutcomeKind;
  name: string | null;
  needs: ColumnType<string[] | null, string | null, string | null>;
  reason: string | null;
  at: Generated<Date>;
}

interface ObservationsTable extends OfBusiness {
  service: "compliance" | "accounting";
  kind: string;
  subject: string;
  /** The value of the setting when it was seen, as JSON; empty where the subject is no setting. */
  value: string;
  message: string;
  count: ColumnType<string, number, number>;
  first_seen_at: Generated<Date>;
  last_seen_at: Generated<Date>;
}

interface StockBranchHoldsTable extends OfBusiness {
  /** The name and the form under which the dialect sends the branch: another dialect is not held. */
  sent_as: string;
  asked: string;
  answered: string;
  /** The movement whose answer named the other branch. */
  reference_id: string;
  held_at: Generated<Date>;
  /** The decision of the operator who looked; null while nobody has. */
  looked_at: Json;
}

export interface PurchasesTable extends OfBusiness, Written {
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
  /** Canonical JSON of what the service answered last. */
  body: string;
  first_seen_at: Generated<Date>;
  changed_at: Generated<Date>;
  /** When what stands here was asked for, by the database's clock. */
  observed_at: Date;
  missing_since: Date | null;
  /** The event that the row was written with. */
  event_number: EventNumber;
}

/** The synchronisations that read purchases and bill payments. */
interface SyncsTable extends OfBusiness {
  sync_id: string;
  collection: "purchases" | "bill_payments";
  kind: SyncKind;
  started_at: Generated<Date>;
  completed_at: Date | null;
  /** Whether what was seen is as many as the service counts. */
  settled: boolean | null;
  /** What has not changed since then is known ground. */
  known_until: Date | null;
  /** How many rows of each list could not be read and are not in the ledger. */
  left_out: Json;
}

interface ReconcileFindingsTable extends OfBusiness, Written {
  kind: FindingKind;
  /** A document's id, a purchase's, or a bill payment's. */
  subject: string;
  reason: string;
  next_step: string;
  since: Generated<Date>;
  /** The run that has seen it last. */
  seen_by: string;
  gone_at: Date | null;
  event_number: EventNumber;
}
