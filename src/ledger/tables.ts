import type { ColumnType, Generated, JSONColumnType } from "kysely";

import type { FindingKind, ItemOutcomeKind } from "../contract/index.ts";

/** Exact in the database; `pg` gives it as text, so that it stays so. */
type NullableNumeric = ColumnType<string | null, number | string | null, number | string | null>;
/** `bigint`; far below 2^53. */
type NullableOrder = ColumnType<string | null, unknown, unknown>;
type Json = JSONColumnType<object | null, string | null, string | null>;

export interface StockClaimsTable {
  connection: string;
  /** `-` when the key's reach names the business. */
  business_id: string;
  reference_id: string;
  generation: number;
  /** Null where nothing was ever sent under this generation. */
  token: string | null;
  state: "held" | "applied" | "not-applied" | "buried";
  item_id: string | null;
  action: "ADD" | "DEDUCT" | null;
  quantity: NullableNumeric;
  unit_price: NullableNumeric;
  branch: string | null;
  holder: string | null;
  taken_at: Date;
  /** The order of takes and settlements among all movements, whatever the clocks of the hosts say. */
  taken_order: NullableOrder;
  settled_order: NullableOrder;
  /** As the service told it; null while unknown, and where a person alone has decided. */
  outcome: Json;
  /** Of the outcome, to find balances by. */
  branch_id: string | null;
  quantity_on_hand: NullableNumeric;
  decision: Json;
  /** Two words about one movement that cannot both be true; the events have both. */
  disputed: Generated<boolean>;
}

export interface StockClaimEventsTable {
  id: ColumnType<string, never, never>;
  at: Generated<Date>;
  connection: string;
  business_id: string;
  reference_id: string;
  generation: number;
  token: string | null;
  what: string;
  detail: Json;
}

export interface DocumentClaimsTable {
  workflow_id: string;
  intent: number;
  /** `in-doubt`: something of this intent may have left, and nothing has settled it. */
  state: "in-doubt" | "unsent" | "nothing" | "document";
  idempotency_key: string | null;
  content: string | null;
  /** Kept as text, since the bytes of a repetition must be those of the first. */
  request: string | null;
  first_sent_at: Date | null;
  holder: string | null;
  document_id: string | null;
  decision: Json;
}

export interface DocumentClaimEventsTable {
  id: ColumnType<string, never, never>;
  at: Generated<Date>;
  workflow_id: string;
  intent: number;
  what: string;
  detail: Json;
}

export interface PurchasesTable {
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
  subtotal: ColumnType<string, string, string>;
  vat: ColumnType<string, string, string>;
  total: ColumnType<string, string, string>;
  /** Of everything but status and confirmation error. */
  content_hash: string;
  /** Canonical JSON of what the service said last. */
  body: string;
  first_seen_at: Generated<Date>;
  changed_at: Generated<Date>;
  /** When what stands here was asked for, by the database's clock. */
  observed_at: Date;
  /** The synchronisation that saw it last. */
  seen_by: string;
  /** The last one that saw it in the whole list, in its order. */
  listed_by: string | null;
  /** A synchronisation that listed it has come to its end: what stands below it in the list was known then. */
  grounded: Generated<boolean>;
  missing_since: Date | null;
  /** The event that the row was written with. */
  event_number: ColumnType<string, number, number>;
  /** Who wrote the row last. */
  workflow_id: string;
  run_id: string;
}

export interface ItemRegistrationsTable {
  connection: string;
  business_id: string;
  /** The item's id, or the name that none has. */
  item: string;
  batch_id: string;
  outcome: ItemOutcomeKind;
  name: string | null;
  needs: ColumnType<string[] | null, string | null, string | null>;
  reason: string | null;
  at: Generated<Date>;
  workflow_id: string;
  run_id: string;
}

export interface PurchaseSyncsTable {
  sync_id: string;
  connection: string;
  business_id: string;
  kind: "recent" | "full" | "window";
  started_at: Generated<Date>;
  completed_at: ColumnType<Date | null, never, unknown>;
}

/** The head of each chain, outside of the chain: a last event that is gone would not be missed otherwise. */
export interface EventHeadsTable {
  connection: string;
  business_id: string;
  count: ColumnType<string, number, number>;
  last_hash: string;
}

export interface EventsTable {
  connection: string;
  business_id: string;
  number: ColumnType<string, number, never>;
  at: Date;
  kind: string;
  subject: string;
  key: string | null;
  workflow_id: string;
  run_id: string;
  /** Canonical JSON, kept as text: the hash is over these bytes. */
  content: string;
  previous_hash: string;
  hash: string;
}

/** Exact in the database, and text on both ways. */
type Numeric = ColumnType<string, string, string>;
type NumericOrNull = ColumnType<string | null, string | null, string | null>;

interface Written {
  workflow_id: string;
  run_id: string;
}

/** Sales and credit notes as they are now. */
export interface DocumentsTable extends Written {
  connection: string;
  /** `-` when the key's reach names the business. */
  business_id: string;
  type: "sale" | "credit_note";
  /** That was asked for. */
  number: string;
  stage: string;
  /** The workflow failed: there will be no document. */
  failed: boolean;
  number_taken: boolean;
  started_at: Date;
  /** `YYYY-MM-DD`: the document's own, else as asked for. */
  document_date: string;
  fingerprint: string | null;
  asked: Json;
  /** Σ(quantity × unit price) of what was asked for. */
  asked_total: NumericOrNull;
  /** Null until the service has one. */
  document_id: string | null;
  /** Another than `number` where somebody else's credit note reverses the sale. */
  document_number: string | null;
  status: string | null;
  payment_type_code: string | null;
  customer_name: string | null;
  customer_pin: string | null;
  total: NumericOrNull;
  taxable_amount: NumericOrNull;
  tax_amount: NumericOrNull;
  original_document_id: string | null;
  cu_invoice_no: string | null;
  receipt: Json;
  /** As the service told it, with what we do not read. */
  document: Json;
  attentions: Json;
  /** The eldest attention; null where nobody is needed. */
  needs_person_since: Date | null;
  as_of: Date;
  sequence: number;
  /** The event that says all that the row says. */
  event_number: ColumnType<string, number, number>;
  /** The event that it was written with when the service said the same and that it is final. */
  reconciled_event: ColumnType<string | null, number | string | null | undefined, number | string | null>;
}

interface OfDocument extends Written {
  connection: string;
  business_id: string;
  type: "sale" | "credit_note";
  number: string;
}

export interface DocumentLinesTable extends OfDocument {
  line: number;
  line_id: string;
  item_id: string;
  name: string | null;
  description: string | null;
  quantity: Numeric;
  unit_price: Numeric;
  total: Numeric;
  taxable_amount: Numeric;
  tax_amount: Numeric;
  tax_rate: Numeric;
  tax_type_code: string | null;
}

export interface StockMovementsTable extends OfDocument {
  reference_id: string;
  purpose: string;
  action: "ADD" | "DEDUCT";
  item_id: string;
  quantity: Numeric;
  unit_price: Numeric;
  state: string;
  branch_id: string | null;
  movement_id: string | null;
  quantity_on_hand: NumericOrNull;
  report: Json;
  undoes: string | null;
  sent_at: Date | null;
  decision: Json;
}

export interface BillPaymentsTable {
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
  event_number: ColumnType<string, number, number>;
  workflow_id: string;
  run_id: string;
}

export interface BillPaymentLinesTable {
  connection: string;
  bill_payment_id: string;
  line_number: number;
  amount: NumericOrNull;
  allocated_on: string | null;
  reference: string | null;
  links: JSONColumnType<object, string, string>;
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
}

export interface SyncBatchesTable {
  connection: string;
  sync_batch_id: string;
  generation: number;
  /** Null where nothing was ever sent under this generation. */
  token: string | null;
  state: "held" | "processed" | "not-processed" | "buried";
  /** The service's words, or a person's. */
  message: string | null;
  taken_at: Date;
  settled_at: Date | null;
  decision: Json;
  event_number: ColumnType<string, number, number>;
  workflow_id: string;
  run_id: string;
}

export interface ReconcileFindingsTable extends Written {
  connection: string;
  business_id: string;
  kind: FindingKind;
  /** A document's id, a purchase's, or a bill payment's. */
  subject: string;
  reason: string;
  next_step: string;
  since: Generated<Date>;
  /** The run that has seen it last. */
  seen_by: string;
  gone_at: Date | null;
  event_number: ColumnType<string, number, number>;
}

/** Webhooks that were passed on. */
export interface WebhookEventsTable {
  connection: string;
  event_id: string;
  seen_at: Generated<Date>;
}

export interface Tables {
  reconcile_findings: ReconcileFindingsTable;
  stock_claims: StockClaimsTable;
  stock_claim_events: StockClaimEventsTable;
  document_claims: DocumentClaimsTable;
  document_claim_events: DocumentClaimEventsTable;
  bill_payments: BillPaymentsTable;
  bill_payment_lines: BillPaymentLinesTable;
  bill_payment_syncs: BillPaymentSyncsTable;
  sync_batches: SyncBatchesTable;
  purchases: PurchasesTable;
  purchase_syncs: PurchaseSyncsTable;
  item_registrations: ItemRegistrationsTable;
  event_heads: EventHeadsTable;
  events: EventsTable;
  documents: DocumentsTable;
  document_lines: DocumentLinesTable;
  stock_movements: StockMovementsTable;
  webhook_events: WebhookEventsTable;
}
