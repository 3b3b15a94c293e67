import type { ColumnType, Selectable } from "kysely";

/** How a table is declared: each column in SQL, and with the same words for TypeScript ({@link Tables}). */
export interface Table<Columns> {
  columns: Columns;
  key: string;
  checks?: readonly string[];
  /** What `create index`, or `create unique index`, is given. */
  indexes?: readonly string[];
  uniqueIndexes?: readonly string[];
  /** In percent; below 100 leaves room in each page for the next version of its rows. */
  fillfactor?: number;
  /** Without a log on disk: after a crash of the database it is empty. */
  unlogged?: true;
  /** The step of migrate.ts that adds a column; default: the one that makes the table. */
  since?: Readonly<Partial<Record<keyof Columns, number>>>;
  /** The step that makes the table; default: the first. */
  step?: number;
  /** What the workers may do; default: read, add and change rows. Nobody but the owner deletes one. */
  workers?: "select" | "select, insert";
}

function table<const Columns extends Record<string, string>>(declared: Table<Columns>): Table<Columns> {
  return declared;
}

const DATE = "'^[0-9]{4}-[0-9]{2}-[0-9]{2}$'";

const OF_BUSINESS = {
  connection: "text not null",
  /** `-` where the key's reach names the business, and for none. */
  business_id: "text not null",
} as const;

/** Who wrote the row last. */
const WRITTEN = { workflow_id: "text not null", run_id: "text not null" } as const;

/** The claim of a call that is sent at most once. @param done the state of one that was carried out */
const claimOf = <const Done extends string>(done: Done) =>
  ({
    generation: "integer not null check (generation >= 1)",
    /** Null where no try of this generation was ever taken: nothing was sent by it, or an operator alone knows of it. */
    token: "text",
    /** The execution of that try which holds it, or held it; null where none was ever taken. */
    execution: "text",
    /** Until then that execution may be at its call; null once it has ended. */
    under_way_until: "timestamptz",
    state: `text not null check (state in ('held', 'closed', '${done}', 'not-${done}'))`,
    taken_at: "timestamptz not null",
    /** As the service answered it; null while unknown, and where an operator alone has decided. */
    outcome: "jsonb",
    decision: "jsonb",
    /** Two words about one call that cannot both be true; the events have both. */
    disputed: "boolean not null default false",
    ...WRITTEN,
  }) as const;

const IS_HELD_BY_SOMEBODY = "state <> 'held' or (token is not null and execution is not null)";

/** What is known of every entry that is read page by page from a service; other columns are computed from `body`. */
const SEEN = {
  /** What the service answered last, unknown fields among it. */
  body: "jsonb not null",
  first_seen_at: "timestamptz not null default clock_timestamp()",
  changed_at: "timestamptz not null",
  /** When what stands here was asked for, by the database's clock. */
  observed_at: "timestamptz not null",
  missing_since: "timestamptz",
  /** The last event about the row. */
  event_number: "bigint not null",
  ...WRITTEN,
} as const;

/** In the order in which they are made. Amounts are `numeric`: exact in the database, and text on both ways. */
export const TABLES = {
  /** Sales and credit notes as they are now, each with its claim. */
  documents: table({
    columns: {
      ...OF_BUSINESS,
      type: "text not null check (type in ('sale', 'credit_note'))",
      /** That was asked for. */
      number: "text not null",
      stage: "text not null",
      /** What was asked of the workflow was refused: there will be no document. */
      failed: "boolean not null",
      /** How its run ended without an outcome (`terminated`, …); null while it goes on, and once it is through. */
      closed: "text",
      closed_at: "timestamptz",
      started_at: "timestamptz not null",
      /** The document's own, else as asked for. */
      document_date: `text not null check (document_date ~ ${DATE})`,
      asked: "json",
      /** Σ(quantity × unit price) of what was asked for. */
      asked_total: "numeric",
      /** Null until the service has one. */
      document_id: "text",
      /** Another than `number` where somebody else's credit note reverses the sale. */
      document_number: "text",
      status: "text",
      payment_type_code: "text",
      customer_name: "text",
      customer_pin: "text",
      total: "numeric",
      taxable_amount: "numeric",
      tax_amount: "numeric",
      original_document_id: "text",
      /** Of a credit note of our own: the code that it was asked for with. */
      refund_reason: "text",
      /** On a sale that is corrected, or whose correction was given up: the number of the corrected sale. */
      corrected_by: "text",
      correction_stage: "text",
      /** On a corrected sale: the number of the sale that it replaces. */
      replaces: "text",
      cu_invoice_no: "text",
      /** The receipt's `scuDate`; null where there is none, or none that is a date. */
      signed_on: `text check (signed_on ~ ${DATE})`,
      receipt: "json",
      /** As the service answered it, with what we do not read. Binary, since reports read the lines of each. */
      document: "jsonb",
      attentions: "json not null",
      /** The eldest attention; null where nobody is needed. */
      needs_person_since: "timestamptz",
      /** Of the last note, by the workflow's clock, and which note of its run it was. */
      as_of: "timestamptz not null",
      sequence: "integer not null",
      /** When the last answer was asked for; null while there is none. */
      answered_at: "timestamptz",
      ...WRITTEN,
      /** The event that says all that the row says, but for its claim. */
      event_number: "bigint not null",
      /** The event that it was written with when the service answered the same and that it is final. */
      reconciled_event: "bigint",
      /** The newest one that was taken, or decided upon; 0 where none was. */
      intent: "integer not null default 0 check (intent >= 0)",
      /** `in-doubt`: something of this intent may have left, and nothing has settled it. Null: none was ever taken. */
      claim: "text check (claim in ('in-doubt', 'unsent', 'nothing', 'document'))",
      /** The document that the claim knows, of which no answer may have been read yet. */
      claimed_id: "text",
      /** What an operator decided. */
      claim_decision: "json",
      /** Of a credit note that was sent, and may be signed: the sale that it reverses. */
      credits: "text",
      idempotency_key: "text",
      /** A fingerprint of what the request says. */
      claim_content: "text",
      /** Kept as text, since the bytes of a repetition must be those of the first. */
      request: "text",
      first_sent_at: "timestamptz",
      /** The execution that took, or repeated, the intent last; null while several may be at it. */
      execution: "text",
      /** Until then an execution may be at its call; null once the last one has ended. */
      under_way_until: "timestamptz",
    },
    key: "connection, business_id, type, number",
    checks: [
      "(claim is not distinct from 'document') = (claimed_id is not null)",
      "claim <> 'in-doubt' or (request is not null and first_sent_at is not null)",
    ],
    indexes: [
      "documents_by_id on documents (connection, business_id, document_id)",
      "documents_by_original on documents (connection, business_id, original_document_id) where original_document_id is not null",
      "documents_in_doubt on documents (under_way_until) where claim = 'in-doubt'",
      "documents_closed on documents (workflow_id) where closed is not null",
      "documents_by_date on documents (document_date)",
      "documents_signed_on_another_day on documents (connection, business_id, signed_on) where signed_on <> document_date",
      "documents_to_reconcile on documents (connection, business_id, type, number) where document_id is not null and reconciled_event is distinct from event_number",
    ],
    uniqueIndexes: ["one_live_credit_note on documents (connection, business_id, credits) where credits is not null"],
  }),
  /**
   * Stock movements: made when one is first taken to be sent, closed unsent, or decided by an operator. Another run than
   * the one that sent it may write it last.
   */
  movements: table({
    columns: {
      ...OF_BUSINESS,
      reference_id: "text not null",
      /** The document that it belongs to; null where nobody ever took it. */
      type: "text check (type in ('sale', 'credit_note'))",
      number: "text",
      purpose: "text check (purpose in ('sold', 'undone', 'restocked'))",
      /** The reference of the movement that it gives back. */
      undoes: "text",
      item_id: "text",
      action: "text check (action in ('ADD', 'DEDUCT'))",
      quantity: "numeric",
      unit_price: "numeric",
      branch: "text",
      ...claimOf("applied"),
      /** The order of takes and settlements among all movements, whatever the clocks of the hosts say. */
      taken_order: "bigint not null default nextval('movement_order')",
      settled_order: "bigint",
      /** Of the outcome, to find balances by. */
      branch_id: "text generated always as (outcome ->> 'branchId') stored",
      quantity_on_hand: "numeric generated always as ((outcome ->> 'quantityOnHand')::numeric) stored",
    },
    key: "connection, business_id, reference_id",
    checks: [IS_HELD_BY_SOMEBODY, "state <> 'held' or item_id is not null"],
    indexes: [
      "movements_of_item on movements (connection, business_id, item_id, taken_order) where item_id is not null",
      "movements_of_document on movements (connection, business_id, type, number) where number is not null",
      "movements_that_undo on movements (connection, business_id, undoes) where undoes is not null",
    ],
  }),
  sync_batches: table({
    columns: { connection: "text not null", sync_batch_id: "text not null", ...claimOf("processed") },
    key: "connection, sync_batch_id",
    checks: [IS_HELD_BY_SOMEBODY],
  }),
  /** Answers that named another branch: no movement goes to a named branch until somebody has looked. */
  stock_branch_holds: table({
    columns: {
      ...OF_BUSINESS,
      /** The name and the form under which the dialect sends the branch: another dialect is not held. */
      sent_as: "text not null",
      asked: "text not null",
      answered: "text not null",
      /** The movement whose answer named the other branch. */
      reference_id: "text not null",
      held_at: "timestamptz not null default clock_timestamp()",
      /** The decision of the operator who looked; null while nobody has. */
      looked_at: "json",
    },
    key: "connection, business_id, sent_as, asked, answered",
  }),
  /** Each business's events, chained by hash. `append_events` writes them, with the owner's rights. */
  events: table({
    columns: {
      ...OF_BUSINESS,
      number: "bigint not null check (number >= 1)",
      at: "timestamptz not null",
      kind: "text not null",
      subject: "text not null",
      key: "text",
      ...WRITTEN,
      /** Canonical JSON, kept as text: the hash is over these bytes, unless something of it was erased. */
      content: "text not null",
      salt: "text not null",
      previous_hash: "text not null",
      hash: "text not null",
      /** Of the salt and the content as they were, where something of the content was erased; the salt is gone then. */
      digest: "text",
      /** The event that says what the content is now. */
      erased_by: "bigint",
    },
    since: { digest: 2, erased_by: 2 },
    key: "connection, business_id, number",
    indexes: [
      "events_of_subject on events (connection, business_id, subject, number)",
      "contradicted_documents on events (at) where kind = 'document-contradicted'",
    ],
    uniqueIndexes: ["events_by_key on events (connection, business_id, key) where key is not null"],
    workers: "select",
  }),
  /** The head of each chain, outside of the chain: a last event that is gone would not be missed otherwise. */
  event_heads: table({
    columns: {
      ...OF_BUSINESS,
      count: "bigint not null check (count >= 0)",
      last_hash: "text not null check (last_hash ~ '^[0-9a-f]{64}$')",
    },
    key: "connection, business_id",
    fillfactor: 50,
    workers: "select",
  }),
  /**
   * Unlogged, so that no call waits for the disk twice: after a crash of the database, or on a replica that takes over,
   * the count begins anew with what the next answers tell.
   */
  quota_windows: table({
    columns: {
      application: "text not null",
      number: "bigint not null",
      ends_at: "timestamptz not null",
      length_ms: "integer not null check (length_ms > 0)",
      told: "boolean not null",
      request_limit: "integer not null",
      reserved: "integer not null",
      spent: "integer not null",
      seen: "integer not null",
      in_flight: "integer not null",
      silent: "integer not null",
      strangers_for: "integer not null",
    },
    key: "application",
    fillfactor: 50,
    unlogged: true,
  }),
  /** What one of the workers does for all of them, and until when it has that turn; unlogged, since it is soon anew. */
  turns: table({
    columns: { turn: "text not null", holder: "text not null", until: "timestamptz not null" },
    step: 3,
    key: "turn",
    fillfactor: 50,
    unlogged: true,
  }),
  /** Supplier invoices as they were last seen; what changed is in the events. */
  purchases: table({
    columns: {
      ...OF_BUSINESS,
      id: "text not null",
      status: "text not null generated always as (body ->> 'status') stored",
      confirmation_error: "text generated always as (nullif(body ->> 'confirmationError', '')) stored",
      supplier_name: "text generated always as (nullif(body #>> '{supplier,name}', '')) stored",
      supplier_pin: "text generated always as (nullif(body #>> '{supplier,pin}', '')) stored",
      supplier_invoice_number: "text not null generated always as (body ->> 'supplierInvoiceNumber') stored",
      /** As the service writes it: `YYYY-MM-DD`. */
      invoice_date: "text not null generated always as (body ->> 'invoiceDate') stored",
      branch: "text generated always as (nullif(body ->> 'branch', '')) stored",
      subtotal: "numeric not null generated always as ((body #>> '{totals,subtotal}')::numeric) stored",
      vat: "numeric not null generated always as ((body #>> '{totals,vat}')::numeric) stored",
      total: "numeric not null generated always as ((body #>> '{totals,total}')::numeric) stored",
      ...SEEN,
    },
    key: "connection, business_id, id",
    indexes: [
      "purchases_of_supplier on purchases (connection, business_id, supplier_pin, supplier_invoice_number)",
      "purchases_by_date on purchases (connection, business_id, invoice_date)",
    ],
    fillfactor: 70,
  }),
  /** Of the chain `accounting/<connection>`. */
  bill_payments: table({
    columns: {
      ...OF_BUSINESS,
      id: "text not null",
      /** Of the list in which it was seen last; null: in no list of a status. */
      sync_status: "text",
      status_observed_at: "timestamptz",
      supplier_id: "text generated always as (body #>> '{supplierRef,id}') stored",
      supplier_name: "text generated always as (body #>> '{supplierRef,name}') stored",
      account_id: "text generated always as (body #>> '{accountRef,id}') stored",
      account_name: "text generated always as (body #>> '{accountRef,name}') stored",
      payment_method_id: "text generated always as (body #>> '{paymentMethodRef,id}') stored",
      payment_method_name: "text generated always as (body #>> '{paymentMethodRef,name}') stored",
      bill_id: "text generated always as (body #>> '{billRef,id}') stored",
      bill_code: "text generated always as (body #>> '{billRef,billCode}') stored",
      total_amount: "numeric generated always as ((body ->> 'totalAmount')::numeric) stored",
      currency: "text generated always as (body ->> 'currency') stored",
      currency_rate: "numeric generated always as ((body ->> 'currencyRate')::numeric) stored",
      payment_date: "text generated always as (body ->> 'date') stored",
      bill_payment_code: "text generated always as (body ->> 'billPaymentCode') stored",
      note: "text generated always as (body ->> 'note') stored",
      ...SEEN,
    },
    key: "connection, business_id, id",
    indexes: ["bill_payments_of_bill on bill_payments (connection, business_id, bill_code)"],
    fillfactor: 70,
  }),
  /** The synchronisations that read purchases and bill payments. */
  syncs: table({
    columns: {
      sync_id: "text not null",
      ...OF_BUSINESS,
      kind: "text not null check (kind in ('recent', 'full', 'window'))",
      started_at: "timestamptz not null default clock_timestamp()",
      completed_at: "timestamptz",
      /** Whether what was seen is as many as the service counts. */
      settled: "boolean",
      /** What has not changed since then is known ground. */
      known_until: "timestamptz",
      /** How many rows of each list could not be read, and are not in the known ground. */
      left_out: "json",
    },
    key: "sync_id",
    indexes: ["syncs_of_business on syncs (connection, business_id) where completed_at is not null"],
  }),
  /** What the registration of each item came to. */
  item_registrations: table({
    columns: {
      ...OF_BUSINESS,
      /** The item's id, or the name that none has. */
      item: "text not null",
      batch_id: "text not null",
      outcome:
        "text not null check (outcome in ('registered', 'registered-already', 'needs-data', 'refused', 'unknown', 'unclear'))",
      name: "text",
      needs: "text[]",
      reason: "text",
      at: "timestamptz not null default clock_timestamp()",
      ...WRITTEN,
    },
    key: "connection, business_id, item",
  }),
  /** What was found not to match. */
  reconcile_findings: table({
    columns: {
      ...OF_BUSINESS,
      kind: "text not null check (kind in ('document-behind', 'document-differs', 'document-not-there', 'document-unreadable', 'payment-without-number', 'payment-without-invoice', 'payment-of-other-supplier', 'payment-of-several', 'payment-in-other-currency', 'payment-without-amount', 'paid-although-rejected', 'paid-another-amount', 'not-paid'))",
      /** A document's id, a purchase's, or a bill payment's. */
      subject: "text not null",
      reason: "text not null",
      since: "timestamptz not null default clock_timestamp()",
      gone_at: "timestamptz",
      event_number: "bigint not null",
      ...WRITTEN,
    },
    key: "connection, business_id, kind, subject",
  }),
  /** Which database this is, and between when and when a restore may have lost claims: one row (place.ts). */
  ledger_place: table({
    columns: {
      one: "boolean not null check (one)",
      ledger: "text not null",
      server: "text not null",
      lost_until: "timestamptz",
      lost_from: "timestamptz",
    },
    since: { lost_from: 3 },
    key: "one",
  }),
  /** What answers have shown that does not fit the dialect. */
  observations: table({
    columns: {
      service: "text not null check (service in ('compliance', 'accounting'))",
      ...OF_BUSINESS,
      kind: "text not null check (kind in ('not-read', 'ignored', 'odd-row'))",
      subject: "text not null",
      /** The value of the setting when it was seen, as JSON; empty where the subject is no setting. */
      value: "text not null",
      message: "text not null",
      count: "bigint not null check (count > 0)",
      first_seen_at: "timestamptz not null default clock_timestamp()",
      last_seen_at: "timestamptz not null default clock_timestamp()",
    },
    key: "service, connection, business_id, kind, subject, value",
    fillfactor: 50,
  }),
} as const;

/** For kysely: what each column is read as, and what it takes, as its SQL says. */
export type Tables = {
  [Name in keyof typeof TABLES]: {
    [Column in keyof (typeof TABLES)[Name]["columns"]]: ColumnOf<(typeof TABLES)[Name]["columns"][Column]>;
  };
};

export type RowOf<Name extends keyof Tables> = Selectable<Tables[Name]>;

type ColumnOf<Sql> = Sql extends `${string} generated ${string}`
  ? ColumnType<ReadAs<Sql>, never, never>
  : Sql extends `${string} default ${string}`
    ? ColumnType<ReadAs<Sql>, GivenAs<Sql> | undefined, GivenAs<Sql>>
    : ColumnType<ReadAs<Sql>, GivenAs<Sql>, GivenAs<Sql>>;

type ReadAs<Sql> = Plain<Sql, string, object> | NullOf<Sql>;
/** Numbers of the database that JavaScript's do not hold are read as text, and JSON is given as text. */
type GivenAs<Sql> = Plain<Sql, string | number, string> | NullOf<Sql>;

type NullOf<Sql> = Sql extends `${string} not null${string}` ? never : null;

type Plain<Sql, Number, Json> = Sql extends `${string} in (${infer Words}))`
  ? OneOf<Words>
  : Sql extends `text[]${string}`
    ? string[]
    : Sql extends `text${string}`
      ? string
      : Sql extends `${"bigint" | "numeric"}${string}`
        ? Number
        : Sql extends `integer${string}`
          ? number
          : Sql extends `boolean${string}`
            ? boolean
            : Sql extends `timestamptz${string}`
              ? Date
              : Sql extends `json${string}`
                ? Json
                : never;

type OneOf<Words> = Words extends `'${infer One}', ${infer Others}`
  ? One | OneOf<Others>
  : Words extends `'${infer One}'`
    ? One
    : never;
