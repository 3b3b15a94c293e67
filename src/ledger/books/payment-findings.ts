import { sql } from "kysely";
import { isDeepStrictEqual } from "node:util";

import {
  money,
  type PAYMENT_FINDINGS,
  type PaymentComparison,
  type PaymentRule,
  type ReconcileFinding,
  type ServedBusinesses,
  shellWord,
} from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Business, Chain } from "../events/chain.ts";
import { BILL_PAYMENTS } from "./bill-payments.ts";
import { chainColumns } from "./mirror.ts";
import { hasValues } from "../statements.ts";
import { wholeAsOf } from "./mirror-list.ts";
import { PURCHASES } from "./purchases.ts";

/** A connection whose bills an accounting connection pays. */
export interface Payer {
  connection: string;
  businesses: ServedBusinesses;
  rule: PaymentRule;
}

/** What payments are held against. */
export interface Against {
  accounting: string;
  rule: PaymentRule;
  /** All whose bills the accounting connection pays: a payment does not say whose bill it pays. */
  payers?: readonly Payer[];
}

type OtherBusiness = Chain & { rule: PaymentRule };

/** The businesses beside this one. Where any is served, those whose invoices the ledger was to have all of. */
export async function otherBusinesses(
  db: Queries,
  business: Business,
  payers: readonly Payer[] = [],
): Promise<OtherBusiness[]> {
  const own = chainColumns(PURCHASES, business);
  const others: OtherBusiness[] = [];
  for (const { connection, businesses, rule } of payers) {
    const ids = businesses === "any" ? await synchronisedBusinesses(db, connection) : businesses;
    for (const businessId of ids) {
      const chain = chainColumns(PURCHASES, { connection, businessId });
      if (!isDeepStrictEqual(chain, own)) others.push({ ...chain, rule });
    }
  }
  return others;
}

async function synchronisedBusinesses(db: Queries, connection: string): Promise<string[]> {
  const { rows } = await sql<{ business_id: string }>`
    select distinct business_id from syncs where connection = ${connection} and kind <> 'window'`.execute(db);
  return rows.map(({ business_id }) => business_id);
}

/**
 * Whether the ledger has all invoices of the business and of those beside it, and all payments of the accounting
 * connection, and as of when: what it does not have yet would be found missing.
 */
export async function synchronised(
  db: Queries,
  business: Business,
  accounting: string,
  others: readonly Chain[],
): Promise<PaymentComparison> {
  const invoicesAsOfMs = await wholeAsOf(db, PURCHASES, business);
  const paymentsAsOfMs = await wholeAsOf(db, BILL_PAYMENTS, { connection: accounting });
  const unread: Chain[] = [];
  for (const other of others) {
    const whole = await wholeAsOf(db, PURCHASES, { connection: other.connection, businessId: other.business_id });
    if (whole === undefined) unread.push(other);
  }
  if (invoicesAsOfMs !== undefined && paymentsAsOfMs !== undefined && unread.length === 0)
    return { kind: "compared", accounting, invoicesAsOfMs, paymentsAsOfMs };
  const invoices = ["supplier invoices of the business", "fiscalflow purchases sync --wait"] as const;
  const invoicesOfOthers = unread.slice(0, MOST_NAMED).map(({ connection, business_id }) => {
    const which = `--connection ${connection} --business ${shellWord(business_id)}`;
    return [
      `supplier invoices of the business ${business_id}, whose bills connection ${accounting} pays too`,
      `fiscalflow purchases sync ${which} --wait`,
    ] as const;
  });
  const payments = [
    `bill payments of connection ${accounting}`,
    `fiscalflow bill-payments sync --connection ${accounting} --wait`,
  ] as const;
  const lacking = [
    ...(invoicesAsOfMs === undefined ? [invoices] : []),
    ...invoicesOfOthers,
    ...(paymentsAsOfMs === undefined ? [payments] : []),
  ];
  return {
    kind: "not-compared",
    why: "not-synchronised",
    reason: `The ledger does not have all ${lacking.map(([what]) => what).join(", nor all ")}.`,
    nextStep: `Synchronise first: ${lacking.map(([, command]) => command).join("; ")}. Where that does not help, \`fiscalflow doctor\` names the rows that cannot be read: ask the provider.`,
  };
}

/** The other ones follow once these are there. */
const MOST_NAMED = 5;

type PaymentFinding = (typeof PAYMENT_FINDINGS)[number];

/** What does not match; its kind says what to do next. */
export type Found = Pick<ReconcileFinding, "kind" | "subject" | "reason">;

interface Row {
  kind: PaymentFinding;
  subject: string;
  /** The payment's own, as the accounting service shows it. */
  paymentCode: string | null;
  number: string | null;
  supplier: string | null;
  amount: string | null;
  currency: string | null;
  /** What it is held against: other suppliers, ids of invoices, an amount. */
  against: string | null;
  /** Whether that was rejected, all of it. */
  rejected: boolean;
}

/** Amounts that differ by no more are the same. */
const TOLERANCE = "0.01";

/**
 * Supplier invoices against the bill payments of an accounting connection. An invoice is matched by its number, and its
 * supplier's name where the rule wants it; of those that fit, one that was rejected gives way to the one that was not.
 * Payments of one invoice are added up in its own currency, and nothing is converted or guessed. What the service does
 * not list any more takes no part.
 *
 * A payment does not say which business it is of. It is another one's where it fits that one's invoice better: by the
 * supplier's name, then as one that was not rejected. Where it fits both alike, nobody can tell, and nothing is said of
 * it, nor of the invoices of its number.
 */
export async function paymentFindings(
  db: Queries,
  business: Business,
  { accounting, rule }: Against,
  others: readonly OtherBusiness[],
): Promise<Found[]> {
  const code = sql.ref(rule.invoiceNumberIn === "billCode" ? "b.bill_code" : "b.bill_payment_code");
  const number = (text: ReturnType<typeof sql>) => sql`nullif(upper(btrim(${text})), '')`;
  const name = (text: ReturnType<typeof sql>) =>
    sql`lower(regexp_replace(coalesce(${text}, ''), '[^[:alnum:]]+', '', 'g'))`;
  const byName = rule.supplier === "same-name";
  const fits = sql`${!byName}::boolean or i.name = p.name`;
  const counts = sql`(${fits}) and i.status <> 'rejected'`;
  // How well an invoice fits a payment, of those that fit.
  const rank = sql`2 * (i.name = p.name)::integer + (i.status <> 'rejected')::integer`;
  const { rows } = await sql<Row>`
    with invoices as (
      select id as purchase_id, status, supplier_name, supplier_invoice_number, total,
        ${number(sql`supplier_invoice_number`)} as number, ${name(sql`supplier_name`)} as name
      from purchases
      where ${hasValues(chainColumns(PURCHASES, business))} and missing_since is null),
    payments as (
      select b.id as bill_payment_id, nullif(btrim(b.bill_payment_code), '') as payment_code, ${code} as code, b.supplier_name, b.total_amount, upper(btrim(b.currency)) as currency,
        ${number(sql`${code}`)} as number, ${number(sql`b.bill_code`)} as bill_number,
        ${number(sql`b.bill_payment_code`)} as payment_number, ${name(sql`b.supplier_name`)} as name
      from bill_payments as b
      where ${hasValues(chainColumns(BILL_PAYMENTS, { connection: accounting }))} and b.missing_since is null),
    invoices_of_others as (
      select i.status, o.by_bill, o.by_name, ${number(sql`i.supplier_invoice_number`)} as number,
        ${name(sql`i.supplier_name`)} as name
      from unnest(${others.map((other) => other.connection)}::text[], ${others.map((other) => other.business_id)}::text[],
        ${others.map((other) => other.rule.invoiceNumberIn === "billCode")}::boolean[],
        ${others.map((other) => other.rule.supplier === "same-name")}::boolean[])
        as o (connection, business_id, by_bill, by_name)
      join purchases as i using (connection, business_id) where i.missing_since is null),
    elsewhere as (
      select p.bill_payment_id, max(${rank}) filter (where not i.by_name or i.name = p.name) as best
      from payments as p
      cross join lateral (values (true, p.bill_number), (false, p.payment_number)) as n (by_bill, number)
      join invoices_of_others as i on (i.by_bill, i.number) = (n.by_bill, n.number) group by p.bill_payment_id),
    held as (
      select p.bill_payment_id, count(i.purchase_id) as of_number, max(${rank}) filter (where ${fits}) as best,
        count(i.purchase_id) filter (where ${fits}) as fitting,
        count(i.purchase_id) filter (where ${counts}) as counting,
        min(i.purchase_id) filter (where ${fits}) as fitting_id,
        min(i.purchase_id) filter (where ${counts}) as counting_id,
        string_agg(distinct i.supplier_name, ', ') as suppliers,
        string_agg(i.purchase_id, ', ' order by i.purchase_id) filter (where ${fits}) as fitting_ids,
        string_agg(i.purchase_id, ', ' order by i.purchase_id) filter (where ${counts}) as counting_ids
      from payments as p left join invoices as i on i.number = p.number group by p.bill_payment_id),
    candidates as (
      select h.*, e.bill_payment_id is not null as is_elsewhere, e.best is not null and e.best = h.best as is_unclear,
        case when e.best = h.best then null when counting = 1 then counting_id when fitting = 1 then fitting_id end
          as purchase_id
      from held as h left join elsewhere as e using (bill_payment_id)
      where coalesce(e.best, -1) <= coalesce(h.best, -1)),
    matched as (
      select p.*, c.purchase_id from payments as p join candidates as c using (bill_payment_id)
      where c.purchase_id is not null),
    paid as (
      select i.purchase_id, i.status, i.supplier_name, i.supplier_invoice_number, i.total,
        coalesce(sum(m.total_amount) filter (where m.currency = ${rule.currency}), 0) as amount,
        count(m.bill_payment_id) as payments,
        bool_or(m.currency is distinct from ${rule.currency} or m.total_amount is null) as unclear
      from invoices as i left join matched as m using (purchase_id)
      group by i.purchase_id, i.status, i.supplier_name, i.supplier_invoice_number, i.total),
    hidden as (
      select i.purchase_id, bool_or(c.is_unclear) as is_unclear from invoices as i
      join payments as p on p.number = i.number join candidates as c using (bill_payment_id)
      where c.purchase_id is null group by i.purchase_id),
    found as (
      select case when p.number is null then 'payment-without-number'
          when c.of_number = 0 then 'payment-without-invoice'
          when c.fitting = 0 then 'payment-of-other-supplier'
          else 'payment-of-several' end as kind,
        p.bill_payment_id as subject, p.code as number, p.supplier_name as supplier, p.total_amount as amount, p.currency,
        case when c.fitting = 0 then c.suppliers else coalesce(c.counting_ids, c.fitting_ids) end as against,
        c.fitting > 0 and c.counting = 0 as rejected
      from payments as p join candidates as c using (bill_payment_id)
      where c.purchase_id is null and not c.is_unclear and not (c.of_number = 0 and c.is_elsewhere)
      union all
      select 'payment-in-other-currency', m.bill_payment_id, m.code, m.supplier_name, m.total_amount, m.currency, m.purchase_id, false
      from matched as m where m.currency is distinct from ${rule.currency}
      union all
      select 'payment-without-amount', m.bill_payment_id, m.code, m.supplier_name, m.total_amount, m.currency, m.purchase_id, false
      from matched as m where m.currency = ${rule.currency} and m.total_amount is null
      union all
      select case when status = 'rejected' then 'paid-although-rejected' else 'paid-another-amount' end,
        purchase_id, supplier_invoice_number, supplier_name, amount, ${rule.currency}, total::text, status = 'rejected'
      from paid where payments > 0 and not unclear
        and (status = 'rejected' or abs(amount - total) > ${TOLERANCE}::numeric)
        and purchase_id not in (select purchase_id from hidden where is_unclear)
      union all
      select 'not-paid', purchase_id, supplier_invoice_number, supplier_name, total, ${rule.currency}, status, false
      from paid where payments = 0 and status <> 'rejected' and purchase_id not in (select purchase_id from hidden))
    select f.*, p.payment_code as "paymentCode"
    from found as f left join payments as p on p.bill_payment_id = f.subject and f.kind like 'payment-%'
    order by f.kind, f.subject`.execute(db);
  return rows.map((row) => ({ kind: row.kind, subject: row.subject, reason: reasonOf(row) }));
}

function reasonOf(row: Row): string {
  const { kind, subject, paymentCode, number, supplier, amount, currency, against, rejected } = row;
  const of = `of ${supplier ?? "an unnamed supplier"}`;
  const sum = `${amount === null ? "an unknown amount" : money(amount)} ${currency ?? "in no currency"}`;
  const payment = `The payment ${paymentCode === null ? subject : `${paymentCode} (${subject})`} ${of}, ${sum},`;
  const invoice = `The supplier invoice ${number ?? ""} ${of}`;
  switch (kind) {
    case "payment-without-number":
      return `${payment} names no supplier invoice.`;
    case "payment-without-invoice":
      return `${payment} is for ${number ?? ""}, and the tax authority holds no supplier invoice of that number.`;
    case "payment-of-other-supplier":
      return `${payment} is for ${number ?? ""}, which is an invoice of ${against ?? "another supplier"}.`;
    case "payment-of-several":
      return `${payment} is for ${number ?? ""}, which fits more than one ${rejected ? "rejected " : ""}supplier invoice: ${against ?? ""}.`;
    case "payment-in-other-currency":
      return `${payment} pays the invoice ${number ?? ""} (${against ?? ""}) in another currency. Nothing is converted here.`;
    case "payment-without-amount":
      return `${payment} pays the invoice ${number ?? ""} (${against ?? ""}), and the service tells no amount of it.`;
    case "paid-although-rejected":
      return `${invoice} was rejected, and ${sum} was paid for it.`;
    case "paid-another-amount":
      return `${invoice} is ${money(against ?? "")} ${currency ?? ""}, and ${sum} was paid.`;
    case "not-paid":
      return `${invoice}, ${sum}, is ${against ?? ""}, and no payment names it.`;
  }
}
