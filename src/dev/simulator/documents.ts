import { createHash } from "node:crypto";
import type { CallEntry } from "./call-log.ts";
import type { AuthorityStep, DocumentStatus } from "./scenario.ts";

/** The wire shapes of the document, section "Resources and their fields". */
export interface Customer {
  name: string | null;
  pin: string | null;
  phone: string | null;
  email: string | null;
}

export interface SaleLine {
  id: string;
  itemId: string;
  name: string | null;
  description: string | null;
  quantity: number;
  unitPrice: number;
  total: number;
  taxableAmount: number;
  taxAmount: number;
  taxRate: number;
  taxTypeCode: string | null;
}

export interface Receipt {
  cuInvoiceNo: string | null;
  receiptNumber: number | null;
  receiptLabel: string | null;
  scuId: string | null;
  scuDate: string | null;
  scuTime: string | null;
  totalReceiptCounter: string | null;
  signature: string | null;
  internalData: string | null;
  verificationUrl: string | null;
  originalCuInvoiceNo: string | null;
}

export interface Callback {
  url: string;
  status: "awaiting_outcome" | "pending" | "delivered" | "failed";
  event: "sale.completed" | "sale.failed" | null;
  attempts: number;
  lastAttemptAt: string | null;
  lastResponseStatus: number | null;
  lastError: string | null;
  deliveredAt: string | null;
  nextAttemptAt: string | null;
}

export interface Sale {
  id: string;
  type: "sale" | "credit_note";
  status: DocumentStatus;
  traderInvoiceNumber: string;
  saleDate: string | null;
  paymentTypeCode: string | null;
  customer: Customer;
  lines: SaleLine[];
  totals: Pick<SaleLine, "total" | "taxableAmount" | "taxAmount">;
  receipt: Receipt | null;
  originalSaleId: string | null;
  error: string | null;
  callback: Callback | null;
}

/** A sale or credit note as the simulator keeps it: the wire shape and what only the books tell. */
export interface DocumentRecord {
  readonly sale: Sale;
  readonly businessId: string;
  readonly branchId: string;
  /** The application that created it; null when it was issued elsewhere. */
  readonly application: string | null;
  readonly idempotencyKey: string | null;
  /** The reason code of a credit note. */
  readonly reason: string | null;
  readonly createdAtMs: number;
  /** How often it went to the authority. */
  submissions: number;
  /** Every call that made, read or resubmitted it. */
  readonly calls: CallEntry[];
  /** Where its script stands; see Authority. */
  script: readonly AuthorityStep[] | null;
  scriptPosition: number;
  cancelTimer: (() => void) | null;
}

/** What a fault of the authority or of callbacks can match. */
export function factsOf({ sale }: DocumentRecord): Record<string, string> {
  return { saleId: sale.id, invoice: sale.traderInvoiceNumber };
}

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

  all(): DocumentRecord[] {
    return [...this.#byId.values()];
  }
}

function append(map: Map<string, DocumentRecord[]>, key: string, record: DocumentRecord): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [record]);
  else list.push(record);
}

/** Numbers and signs receipts: one signing unit (SCU) for each branch, with counters for all receipts and each label. */
export class Receipts {
  readonly #units = new Map<string, { scuId: string; issued: number; NS: number; NC: number }>();

  issue(sale: Sale, branch: string, originalCuInvoiceNo: string | null, nowMs: number): Receipt {
    const scuId = `SCU${String(this.#units.size + 1).padStart(8, "0")}`;
    const unit = this.#units.get(branch) ?? { scuId, issued: 0, NS: 0, NC: 0 };
    this.#units.set(branch, unit);
    const receiptLabel = sale.type === "sale" ? "NS" : "NC";
    unit[receiptLabel] += 1;
    unit.issued += 1;
    const cuInvoiceNo = `${unit.scuId}/${unit.issued}`;
    const signature = sealOf(`signature ${sale.id} ${cuInvoiceNo}`, 16);
    const [date = "", time] = inNairobi(nowMs).split("T");
    return {
      cuInvoiceNo,
      receiptNumber: unit[receiptLabel],
      receiptLabel,
      scuId: unit.scuId,
      scuDate: date.split("-").toReversed().join("/"),
      scuTime: time ?? null,
      totalReceiptCounter: String(unit.issued),
      signature,
      internalData: sealOf(`internal ${sale.id} ${cuInvoiceNo}`, 26),
      verificationUrl: `https://tax-authority.example/verify?invoice=${encodeURIComponent(cuInvoiceNo)}&signature=${signature}`,
      originalCuInvoiceNo,
    };
  }
}

/** `YYYY-MM-DDThh:mm:ss`; Kenya is three hours ahead of UTC all year. */
export function inNairobi(ms: number): string {
  return new Date(ms + 3 * 3_600_000).toISOString().slice(0, 19);
}

function sealOf(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").toUpperCase().slice(0, length);
}
