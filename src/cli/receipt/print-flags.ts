import type { Seller } from "../../receipt/page.ts";
import { UsageError } from "../cli-error.ts";
import { formatByEnding, type FormatFlags, requireOut } from "../format.ts";

export const FORMATS = ["text", "escpos", "html", "pdf"] as const;

export type ReceiptFormat = (typeof FORMATS)[number];

export interface PrintFlags extends FormatFlags<ReceiptFormat> {
  json?: boolean;
  seller?: string;
  sellerPin?: string;
  sellerAddress?: string;
  font?: string;
}

export interface PrintPlan {
  format: ReceiptFormat;
  /** Default: standard output. */
  out: string | undefined;
  force: boolean;
  seller: Seller | undefined;
  /** The font's file. */
  font: string | undefined;
}

const BY_ENDING: Readonly<Record<string, ReceiptFormat>> = {
  ".pdf": "pdf",
  ".html": "html",
  ".htm": "html",
  ".txt": "text",
};

/** What the flags ask for. @throws UsageError where they do not go together */
export function printPlan(flags: PrintFlags, isTerminal: boolean): PrintPlan {
  const { json = false, out, force = false, seller, sellerPin: pin, sellerAddress: address, font } = flags;
  if (json && (flags.format !== undefined || out !== undefined || seller !== undefined || font !== undefined))
    throw new UsageError("--json prints the signed values: leave --format, --out, --seller and --font out.");
  requireOut(flags);
  if (seller === undefined && (pin !== undefined || address !== undefined))
    throw new UsageError("--seller-pin and --seller-address belong to --seller.");
  const format = flags.format ?? formatByEnding(out, BY_ENDING);
  if (font !== undefined && format !== "pdf") throw new UsageError("--font belongs to --format pdf.");
  if (isTerminal && out === undefined && (format === "pdf" || format === "escpos"))
    throw new UsageError(`A terminal cannot show --format ${format}: add --out FILE, or send the output to a program.`);
  const stated = seller === undefined ? undefined : { name: seller, ...(pin && { pin }), ...(address && { address }) };
  return { format, out, force, seller: stated, font };
}
