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
 * `whole`: accepted, with its receipt. `unsigned`: accepted, the receipt is not there yet. `strange`: a status that the
 * document of the API does not list. (Fiscal Compliance API, "Sale and credit note status".)
 */
type DocumentFate = "whole" | "unsigned" | "in-flight" | "failed" | "cancelled" | "strange";

export function fateOf(document: SaleDocument): DocumentFate {
  switch (document.status) {
    case "completed":
      return document.receipt ? "whole" : "unsigned";
    case "failed":
      return "failed";
    case "cancelled":
      return "cancelled";
    default:
      return IN_FLIGHT_STATUSES.includes(document.status) ? "in-flight" : "strange";
  }
}

/** Reads the document now, however long it takes to get an answer. */
export async function readDocument(
  work: SaleContext,
  saleId: string,
  betweenTries?: BetweenTries,
): Promise<SaleDocument> {
  const { calls, run, target } = work;
  const read = await callWithEscalation(
    run,
    () => calls.read.readDocument({ ...target, saleId, record: run.records?.besideDocument(saleId) }),
    betweenTries,
  );
  if (read.recorded) run.records?.keptBeside({ document: read.document });
  return read.document;
}

/**
 * Submits the same document again (POST /v1/sales/{id}/retry). An answer that is lost is looked for in the document
 * before another try; until it is found, the document may have completed, so no cancellation is carried out.
 * @throws CancelledByPerson while it is known to be rejected
 */
export async function retryDocument(work: SaleContext, document: SaleDocument): Promise<SaleDocument> {
  const { calls, run, target } = work;
  const betweenTries = new BetweenTries(run);
  try {
    for (;;) {
      run.documentInDoubt = true;
      const result = await calls.convergingWrite.retryDocument({ ...target, saleId: document.id });
      if (isRefusal(result)) {
        // An answer that fits no rule says nothing of what happened behind it.
        run.documentInDoubt = result.attention === "unexpected-answer";
        await betweenTries.waitAfterRefusal(result);
        continue;
      }
      betweenTries.clearRefusal();
      const seen = await seenBy(work, document, result);
      run.document = seen;
      run.documentInDoubt = false;
      const again = result.kind === "converging" && fateOf(seen) === "failed" && fateOf(document) === "failed";
      if (again)
        await betweenTries.waitAfterLostAnswer("The resubmission", document.id, (ms) =>
          condition(() => run.cancelDue, ms),
        );
      if (!again || run.cancelDue) return seen;
    }
  } finally {
    betweenTries.clearLostAnswer();
  }
}

async function seenBy(
  work: SaleContext,
  document: SaleDocument,
  result: Exclude<RetryDocumentResult, { kind: "refused" }>,
): Promise<SaleDocument> {
  switch (result.kind) {
    case "document":
      return result.document;
    case "rejected":
      return result.document ?? { ...document, status: "failed", error: result.message };
    case "converging":
      return await readDocument(work, document.id);
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
    const [asked, is] = [givenText(wanted), givenText(got)];
    if (wanted !== undefined && asked !== is) found.push(`${what}: expected ${asked}, found ${is}`);
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

/** Where a created sale lacks what was sent: the settings of the dialect under which it was sent. */
const SENT_AS: readonly (readonly [part: string, settings: string])[] = [
  ["traderInvoiceNumber:", "createSale.fields.traderInvoiceNumber"],
  ["customer.pin:", "createSale.fields.customer, createSale.customerFields.pin"],
  ["lines", "createSale.fields.lines, createSale.lineFields"],
];

/** The mismatches of a document that was created as we asked, in one message. */
export function mismatchMessage({ type }: ExpectedDocument, found: readonly string[]): string {
  const said = found.join("; ");
  const settings = SENT_AS.filter(([part]) => found.some((one) => one.startsWith(part))).map(([, names]) => names);
  if (type !== "sale" || settings.length === 0) return said;
  return `${said}. If the service took no notice of what was sent, it uses other names: set ${settings.join(", ")} in COMPLIANCE_DIALECT.`;
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
    return same
      ? []
      : [`lines[${i}]: expected ${text({ ...line, quantity: sign * Math.abs(line.quantity) })}, found ${text(got)}`];
  });
  return fewOf(differing);
}
