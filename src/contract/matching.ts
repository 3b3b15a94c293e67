import { differsByMoreThan } from "./decimal.ts";
import { givenText, type ResolvedLine, type SaleDocument } from "./documents.ts";
import { goodsOf } from "./payload-bounds.ts";
import { fewOf } from "./plain-text.ts";
import { ERASED } from "./sale-content.ts";

/** A part that is left out is not compared. */
export interface ExpectedDocument {
  type: string;
  traderInvoiceNumber?: string;
  customerPin?: string | null;
  lines?: ResolvedLine[];
  originalSaleId?: string;
  total?: number | undefined;
}

/** Money is compared in decimal, at 0.01 (docs/failure-model.md, "The promises"). */
const TOLERANCE = 0.01;

/** In words; absent: it is as asked for, or was not compared. */
export interface Differences {
  differences?: string[];
  /** Its total is not the one that the caller expects. */
  totalDiffers?: string;
}

/** @param expectedTotal by the caller, of the signed document */
export function differencesFrom(
  document: SaleDocument,
  expected: ExpectedDocument | undefined,
  expectedTotal: number | undefined,
): Differences {
  const differences = expected ? mismatches(document, expected) : [];
  const [totalDiffers] = mismatches(document, { type: document.type, total: expectedTotal });
  return { ...(differences.length > 0 && { differences }), ...(totalDiffers !== undefined && { totalDiffers }) };
}

export function mismatches(document: SaleDocument, expected: ExpectedDocument): string[] {
  const found: string[] = [];
  const compare = (what: string, wanted: string | null | undefined, got: string | null | undefined): void => {
    const [wantedText, gotText] = [givenText(wanted), givenText(got)];
    if (wanted === undefined || wanted === ERASED || wantedText === gotText) return;
    found.push(`${what}: expected ${wantedText ?? "nothing"}, found ${gotText ?? "nothing"}`);
  };
  compare("type", expected.type, document.type);
  compare("traderInvoiceNumber", expected.traderInvoiceNumber, document.traderInvoiceNumber);
  compare("originalSaleId", expected.originalSaleId, document.originalSaleId);
  compare("customer.pin", expected.customerPin, document.customer?.pin);
  if (expected.lines) found.push(...lineMismatches(document, expected, expected.lines));
  if (expected.total !== undefined && differsByMoreThan(TOLERANCE, expected.total, document.totals.total)) {
    found.push(`totals.total: expected ${expected.total}, found ${document.totals.total}`);
  }
  return found;
}

/** If a created sale lacks a part: the settings of the dialect that name it. */
const SETTINGS_OF: readonly (readonly [part: string, settings: string])[] = [
  ["traderInvoiceNumber:", "createSale.fields.traderInvoiceNumber"],
  ["customer.pin:", "createSale.fields.customer, createSale.customerFields.pin"],
  ["lines", "createSale.fields.lines, createSale.lineFields"],
];

export function mismatchMessage({ type }: ExpectedDocument, found: readonly string[]): string {
  const message = found.join("; ");
  const settings = SETTINGS_OF.filter(([part]) => found.some((one) => one.startsWith(part))).map(([, names]) => names);
  if (type !== "sale" || settings.length === 0) return message;
  return `${message}. If the service took no notice of what was sent, it uses other names: set ${settings.join(", ")} in COMPLIANCE_DIALECT.`;
}

/**
 * Lines in order. Whether a credit note's unit prices are negative like its quantities is not shown, so they count by
 * their size.
 */
function lineMismatches(document: SaleDocument, expected: ExpectedDocument, lines: ResolvedLine[]): string[] {
  const sign = expected.type === "credit_note" ? -1 : 1;
  const sold = goodsOf(document);
  if (lines.length !== sold.length) return [`lines: expected ${lines.length}, found ${sold.length}`];
  const differing = lines.flatMap((line, i) => {
    const got = sold[i];
    if (!got) return [];
    const same =
      got.itemId === line.itemId &&
      !differsByMoreThan(0, got.quantity, sign * Math.abs(line.quantity)) &&
      !differsByMoreThan(TOLERANCE, Math.abs(got.unitPrice), Math.abs(line.unitPrice));
    const text = (of: ResolvedLine): string => `${of.quantity} of ${of.itemId} at ${of.unitPrice}`;
    const wanted = { ...line, quantity: sign * Math.abs(line.quantity) };
    return same ? [] : [`lines[${i}]: expected ${text(wanted)}, found ${text(got)}`];
  });
  return fewOf(differing);
}
