import type { Sending } from "./callback-sender.ts";
import type { DocumentRecord } from "./document-record.ts";

/** The same URL with another character at the end of its path. */
function altered(url: string): string {
  const parsed = new URL(url);
  parsed.pathname = parsed.pathname.slice(0, -1) + (parsed.pathname.endsWith("A") ? "B" : "A");
  return parsed.href;
}

/** What a stranger sends about a document in flight: to a URL that he has guessed, and to the one that he has seen. */
export function forgeries(record: DocumentRecord, url: string): Sending[] {
  const { id, traderInvoiceNumber } = record.sale;
  const sale = {
    id,
    traderInvoiceNumber,
    status: "completed",
    receipt: { cuInvoiceNo: "FORGED", signature: "FORGED" },
  };
  const body = { event: "sale.completed", saleId: id, sale, data: { sale } };
  return [altered(url), url].map((target) => ({ record, url: target, event: "sale.completed", fault: "forged", body }));
}
