import type { DocumentRecord } from "./document-record.ts";

/** Every sale and credit note by id, by the caller's own number and by the sale it reverses. */
export class DocumentStore {
  readonly #byId = new Map<string, DocumentRecord>();
  readonly #byInvoice = new Map<string, DocumentRecord[]>();
  readonly #creditNotes = new Map<string, DocumentRecord[]>();

  add(record: DocumentRecord): void {
    this.#byId.set(record.sale.id, record);
    append(this.#byInvoice, record.sale.traderInvoiceNumber, record);
    if (record.sale.originalSaleId !== null) append(this.#creditNotes, record.sale.originalSaleId, record);
  }

  get(id: string): DocumentRecord | undefined {
    return this.#byId.get(id);
  }

  withInvoice(invoice: string): readonly DocumentRecord[] {
    return this.#byInvoice.get(invoice) ?? [];
  }

  /** The credit note that stands against this sale: neither failed nor cancelled. */
  liveCreditNote(saleId: string): DocumentRecord | undefined {
    const notes = this.#creditNotes.get(saleId) ?? [];
    return notes.find(({ sale }) => sale.status !== "failed" && sale.status !== "cancelled");
  }

  all(): IterableIterator<DocumentRecord> {
    return this.#byId.values();
  }
}

function append(map: Map<string, DocumentRecord[]>, key: string, record: DocumentRecord): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [record]);
  else list.push(record);
}
