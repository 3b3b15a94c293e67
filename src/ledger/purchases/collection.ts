import { sql } from "kysely";

import { decimalText, givenText, type Purchase } from "../../contract/index.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import type { Collection } from "../synced/collection.ts";
import type { NewRowOf } from "../tables.ts";

/** The status and the error of its confirmation are fields of a purchase, and have a history of their own. */
export const PURCHASES: Collection<Purchase> = {
  table: "purchases",
  idColumn: "purchase_id",
  ownerOf: businessColumns,
  chainOf: (business) => business,
  ownerOfChain: ({ connection, business_id }) => ({ connection, business_id }),
  events: { seen: "purchase-seen", missing: "purchase-missing", noun: "purchase", entry: "purchase" },
  columnsOf,
  fieldsApart: ["status", "confirmationError"],
  firstSeen: ({ status, confirmation_error: confirmationError }) => ({ status, confirmationError }),
  changesOf(row, columns, { isLate }) {
    if (isLate) return [];
    const change = (what: "status" | "confirmation-error", column: "status" | "confirmation_error") =>
      row[column] === columns[column] ? [] : [{ what, before: row[column], after: columns[column] }];
    return [...change("status", "status"), ...change("confirmation-error", "confirmation_error")];
  },
  marksOf: () => [],
  statusSince: () => sql`status`,
  date: "invoice_date",
};

/** Amounts are kept as decimals, as the service wrote them. */
function columnsOf({
  status,
  confirmationError,
  supplier,
  supplierInvoiceNumber,
  invoiceDate,
  branch,
  totals,
}: Purchase) {
  return {
    status: storableText(status),
    confirmation_error: textOrNull(confirmationError),
    supplier_name: textOrNull(supplier.name),
    supplier_pin: textOrNull(supplier.pin),
    supplier_invoice_number: storableText(supplierInvoiceNumber),
    invoice_date: storableText(invoiceDate),
    branch: textOrNull(branch),
    subtotal: decimalText(totals.subtotal),
    vat: decimalText(totals.vat),
    total: decimalText(totals.total),
  } satisfies Partial<NewRowOf<"purchases">>;
}

function textOrNull(text: string | null | undefined): string | null {
  const given = givenText(text);
  return given === null ? null : storableText(given);
}
