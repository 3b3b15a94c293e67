import { condition } from "@temporalio/workflow";

import {
  differsByMoreThan,
  fewOf,
  givenText,
  goodsOf,
  IN_FLIGHT_STATUSES,
  type ResolvedLine,
  type RetryDocumentResult,
  type SaleDocument,
} from "../../src/contract/index.ts";
import { callWithEscalation, isRefusal, BetweenTries } from "../calls/between-tries.ts";
import type { SaleContext } from "../sale/state.ts";

/**
 * What a document's status means. `signed`: completed, with its receipt. `unsigned`: completed, but the receipt is not
 * there yet. `unknown-status`: none that the API documents (Fiscal Compliance API, "Sale and credit note status").
 */
type DocumentState = "signed" | "unsigned" | "in-flight" | "failed" | "cancelled" | "unknown-status";

export function documentState(document: SaleDocument): DocumentState {
  switch (document.status) {
    case "completed":
      return document.receipt ? "signed" : "unsigned";
    case "failed":
      return "failed";
    case "cancelled":
      return "cancelled";
    default:
      return IN_FLIGHT_STATUSES.includes(document.status) ? "in-flight" : "unknown-status";
  }
}

/** Reads the document, and tries until there is an answer. */
export async function readDocument(
  context: SaleContext,
  saleId: string,
  betweenTries?: BetweenTries,
): Promise<SaleDocument> {
  const { calls, run, target } = context;
  const call = () => {
    const asked = { ...target, saleId, record: run.records?.recordForDocument(saleId) };
    return calls.read.readDocument(`Read the document ${saleId}`, asked);
  };
  const read = await callWithEscalation(run, call, betweenTries);
  if (read.recorded) run.records?.savedWithCall({ document: read.document });
  return read.document;
}

/**
 * Submits the same document again (POST /v1/sales/{id}/retry). If the answer is lost, the document itself is read
 * before another try; until then it may have completed, so no cancellation is carried out.
 * @throws CancelledByOperator while it is known to be rejected
 */
export async function retryDocument(context: SaleContext, document: SaleDocument): Promise<SaleDocument> {
  const { calls, run, target } = context;
  const betweenTries = new BetweenTries(run);
  try {
    for (;;) {
      run.documentInDoubt = true;
      const asked = { ...target, saleId: document.id };
      const result = await calls.convergingWrite.retryDocument("Submit the document again", asked);
      if (isRefusal(result)) {
        // An unexpected answer does not say whether the document was submitted.
        run.documentInDoubt = result.attention === "unexpected-answer";
        await betweenTries.waitAfterRefusal(result);
        continue;
      }
      betweenTries.clearRefusal();
      const current = await documentAfter(context, document, result);
      run.document = current;
      run.documentInDoubt = false;
      const hadNoEffect =
        result.kind === "converging" && documentState(current) === "failed" && documentState(document) === "failed";
      const pause = (ms: number, options: { summary: string }) => condition(() => run.cancelDue, ms, options);
      if (hadNoEffect) await betweenTries.waitAfterLostAnswer("The resubmission", document.id, pause);
      if (!hadNoEffect || run.cancelDue) return current;
    }
  } finally {
    betweenTries.clearLostAnswer();
  }
}

async function documentAfter(
  context: SaleContext,
  document: SaleDocument,
  result: Exclude<RetryDocumentResult, { kind: "refused" }>,
): Promise<SaleDocument> {
  switch (result.kind) {
    case "document":
      return result.document;
    case "rejected":
      return result.document ?? { ...document, status: "failed", error: result.message };
    case "converging":
      return await readDocument(context, document.id);
  }
}

/** What a document must look like to be ours. A part that is left out is not compared. */
export interface ExpectedDocument {
  type: "sale" | "credit_note";
  traderInvoiceNumber?: string;
  customerPin?: string | null;
  lines?: ResolvedLine[];
  originalSaleId?: string;
  total?: number;
}

/** Money is compared in decimal, at 0.01 (docs/failure-model.md, "The promises"). */
const TOLERANCE = 0.01;

/** In words, each part in which the document is not what was asked for. Empty: it matches. */
export function mismatches(document: SaleDocument, expected: ExpectedDocument): string[] {
  const found: string[] = [];
  const compare = (what: string, wanted: string | null | undefined, got: string | null | undefined): void => {
    const [wantedText, gotText] = [givenText(wanted), givenText(got)];
    if (wanted === undefined || wantedText === gotText) return;
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

/** The mismatches of a document that was created as we asked, in one message. */
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
