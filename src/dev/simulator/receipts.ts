import { createHash } from "node:crypto";
import type { Receipt, Sale } from "./document-record.ts";

const nairobi = new Intl.DateTimeFormat("en-GB", {
  timeZone: "Africa/Nairobi",
  hourCycle: "h23",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

function nairobiTime(nowMs: number): { scuDate: string; scuTime: string } {
  const parts = new Map(nairobi.formatToParts(nowMs).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? "";
  return {
    scuDate: `${part("day")}/${part("month")}/${part("year")}`,
    scuTime: `${part("hour")}:${part("minute")}:${part("second")}`,
  };
}

function sealOf(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").toUpperCase().slice(0, length);
}

/**
 * Numbers and signs receipts: one signing unit (SCU) for each branch, with a counter for all receipts and one for each
 * label.
 */
export class Receipts {
  readonly #units = new Map<string, { scuId: string; issued: number; byLabel: Map<string, number> }>();

  issue(sale: Sale, branch: string, originalCuInvoiceNo: string | null, nowMs: number): Receipt {
    const unit = this.#unit(branch);
    const receiptLabel = sale.type === "sale" ? "NS" : "NC";
    const receiptNumber = (unit.byLabel.get(receiptLabel) ?? 0) + 1;
    unit.byLabel.set(receiptLabel, receiptNumber);
    unit.issued += 1;
    const cuInvoiceNo = `${unit.scuId}/${unit.issued}`;
    const signature = sealOf(`signature ${sale.id} ${cuInvoiceNo}`, 16);
    return {
      cuInvoiceNo,
      receiptNumber,
      receiptLabel,
      scuId: unit.scuId,
      ...nairobiTime(nowMs),
      totalReceiptCounter: String(unit.issued),
      signature,
      internalData: sealOf(`internal ${sale.id} ${cuInvoiceNo}`, 26),
      verificationUrl: `https://tax-authority.example/verify?invoice=${encodeURIComponent(cuInvoiceNo)}&signature=${signature}`,
      originalCuInvoiceNo,
    };
  }

  #unit(branch: string): { scuId: string; issued: number; byLabel: Map<string, number> } {
    const known = this.#units.get(branch);
    if (known !== undefined) return known;
    const unit = {
      scuId: `SCU${String(this.#units.size + 1).padStart(8, "0")}`,
      issued: 0,
      byLabel: new Map<string, number>(),
    };
    this.#units.set(branch, unit);
    return unit;
  }
}
