import { sql } from "kysely";

import {
  money,
  type PAYMENT_FINDINGS,
  type PaymentComparison,
  type PaymentRule,
  type ReconcileFinding,
} from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Business } from "../events/chain.ts";
import { BILL_PAYMENTS } from "./bill-payments.ts";
import { chainColumns } from "./mirror.ts";
import { hasValues } from "../statements.ts";
import { wholeAsOf } from "./mirror-list.ts";
import { PURCHASES } from "./purchases.ts";

/**
 * Whether the ledger has all invoices of the business and all payments of the accounting connection, and as of when:
 * what it does not have yet would be found missing.
 */
export async function synchronised(db: Queries, business: Business, accounting: string): Promise<PaymentComparison> {
  const invoicesAsOfMs = await wholeAsOf(db, PURCHASES, business);
  const paymentsAsOfMs = await wholeAsOf(db, BILL_PAYMENTS, { connection: accounting });
  if (invoicesAsOfMs !== undefined && paymentsAsOfMs !== undefined)
    return { kind: "compared", accounting, invoicesAsOfMs, paymentsAsOfMs };
  const invoices = ["supplier invoices of the business", "fiscalflow purchases sync --wait"] as const;
  const payments = [
    `bill payments of connection ${accounting}`,
    `fiscalflow bill-payments sync --connection ${accounting} --wait`,
  ] as const;
  const lacking = [
    ...(invoicesAsOfMs === undefined ? [invoices] : []),
    ...(paymentsAsOfMs === undefined ? [payments] : []),
  ];
  return {
    kind: "not-compared",
    why: "not-synchronised",
    reason: `The ledger does not have all ${lacking.map(([what]) => what).join(", nor all ")}.`,
    nextStep: `Synchronise first: ${lacking.map(([, command]) => command).join("; ")}. Where that does not help, \`fiscalflow doctor\` names the rows that cannot be read: ask the provider.`,
  };
}

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
 */
export async function paymentFindings(
  db: Queries,
  business: Business,
  { accounting, rule }: { accounting: string; rule: PaymentRule },
): Promise<Found[]> {
  const code = sql.ref(rule.invoiceNumberIn === "billCode" ? "b.bill_code" : "b.bill_payment_code");
  const number = (text: ReturnType<typeof sql>) => sql`nullif(upper(btrim(${text})), '')`;
  const name = (text: ReturnType<typeof sql>) =>
    sql`lower(regexp_replace(coalesce(${text}, ''), '[^[:alnum:]]+', '', 'g'))`;
  const byName = rule.supplier === "same-name";
  const fits = sql`${!byName}::boolean or i.name = p.name`;
  const counts = sql`(${fits}) and i.status <> 'rejected'`;
  const { rows } = await sql<Row>`
    with invoices as (
      select id as purchase_id, status, supplier_name, supplier_invoice_number, total,
        ${number(sql`supplier_invoice_number`)} as number, ${name(sql`supplier_name`)} as name
      from purchases
      where ${hasValues(chainColumns(PURCHASES, business))} and missing_since is null),
    payments as (
      select b.id as bill_payment_id, nullif(btrim(b.bill_payment_code), '') as payment_code, ${code} as code, b.supplier_name, b.total_amount, upper(btrim(b.currency)) as currency,
        ${number(sql`${code}`)} as number, ${name(sql`b.supplier_name`)} as name
      from bill_payments as b
      where ${hasValues(chainColumns(BILL_PAYMENTS, { connection: accounting }))} and b.missing_since is null),
    held as (
      select p.bill_payment_id, count(i.purchase_id) as of_number,
        count(i.purchase_id) filter (where ${fits}) as fitting,
        count(i.purchase_id) filter (where ${counts}) as counting,
        min(i.purchase_id) filter (where ${fits}) as fitting_id,
        min(i.purchase_id) filter (where ${counts}) as counting_id,
        string_agg(distinct i.supplier_name, ', ') as suppliers,
        string_agg(i.purchase_id, ', ' order by i.purchase_id) filter (where ${fits}) as fitting_ids,
        string_agg(i.purchase_id, ', ' order by i.purchase_id) filter (where ${counts}) as counting_ids
      from payments as p left join invoices as i on i.number = p.number group by p.bill_payment_id),
    candidates as (
      select *, case when counting = 1 then counting_id when fitting = 1 then fitting_id end as purchase_id from held),
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
      select distinct i.purchase_id from invoices as i join payments as p on p.number = i.number
      join candidates as c using (bill_payment_id) where c.purchase_id is null),
    found as (
      select case when p.number is null then 'payment-without-number'
          when c.of_number = 0 then 'payment-without-invoice'
          when c.fitting = 0 then 'payment-of-other-supplier'
          else 'payment-of-several' end as kind,
        p.bill_payment_id as subject, p.code as number, p.supplier_name as supplier, p.total_amount as amount, p.currency,
        case when c.fitting = 0 then c.suppliers else coalesce(c.counting_ids, c.fitting_ids) end as against,
        c.fitting > 0 and c.counting = 0 as rejected
      from payments as p join candidates as c using (bill_payment_id) where c.purchase_id is null
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
