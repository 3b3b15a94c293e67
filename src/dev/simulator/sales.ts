import { randomUUID } from "node:crypto";
import { requireCallbackUrl } from "./callbacks.ts";
import {
  authorityRejected,
  createDocument,
  type DocumentDraft,
  draftOfSale,
  priceLine,
  reversed,
  touch,
} from "./create-document.ts";
import { negated } from "./decimal.ts";
import type { Customer, DocumentRecord } from "./documents.ts";
import { itemOf } from "./goods.ts";
import type { Caller } from "./keyring.ts";
import { ApiError, notFound, type RequestFields } from "./request.ts";
import { type Business, isInFlight } from "./scenario.ts";
import { type Answer, type Call, type Operation, type RawCall, textIn } from "./service.ts";
import { businessOf, chooseBranch, type World } from "./world.ts";

/** Bounds of POST /v1/sales; the document shows 50 for the credit note's number only. */
const limits = { number: 50, text: 500 };
const reasons = ["01", "02", "03", "04", "05", "06"] as const;

/** The document of this business that the path names, or 404. */
function documentOf(world: World, { raw }: Call<Caller>, business: Business): DocumentRecord {
  return requireDocument(world, business, raw.params["id"] ?? "");
}

function requireDocument(world: World, business: Business, id: string): DocumentRecord {
  const record = world.documents.get(id);
  if (record === undefined || record.businessId !== business.id) throw notFound("Sale");
  return record;
}

function readCustomer(world: World, fields: RequestFields | null): Customer {
  const names = world.dialect.createSale.customerFields;
  const text = (name: string | null): string | null => fields?.optionalText(name, limits.text) ?? null;
  return { name: text(names.name), pin: text(names.pin), phone: text(names.phone), email: text(names.email) };
}

function readCallbackUrl(body: RequestFields, name: string | null): string | null {
  const url = body.optionalText(name, Number.POSITIVE_INFINITY);
  if (url !== null) requireCallbackUrl(name ?? "callbackUrl", url);
  return url;
}

function draftSale(world: World, call: Call<Caller>, business: Business): DocumentDraft {
  const { fields: names, lineFields, branchBy } = world.dialect.createSale;
  const body = call.body();
  const traderInvoiceNumber = body.text(names.traderInvoiceNumber, limits.number);
  const saleDate = body.optionalDay(names.saleDate);
  const paymentTypeCode = body.optionalText(names.paymentTypeCode, limits.text);
  const customer = readCustomer(world, body.optionalObject(names.customer));
  const asked = body.objects(names.lines).map((line) => ({
    itemId: line.text(lineFields.itemId, 200),
    quantity: line.amount(lineFields.quantity, "above 0"),
    // A dialect that does not send the price leaves it to the item.
    unitPrice: lineFields.unitPrice === null ? null : line.amount(lineFields.unitPrice, "at least 0"),
  }));
  const branchId = chooseBranch(business, names.branch, body.optionalText(names.branch, 200), branchBy);
  const callbackUrl = readCallbackUrl(body, names.callbackUrl);
  call.refuseOthers();
  const lines = asked.map(({ itemId, quantity, unitPrice }) => {
    const item = itemOf(world, business, itemId);
    return priceLine(world, item, { quantity, unitPrice: unitPrice ?? item.unitPrice, description: null });
  });
  const asSold = { traderInvoiceNumber, saleDate, paymentTypeCode, customer, lines };
  return draftOfSale({ ...asSold, businessId: business.id, branchId, callbackUrl });
}

/** A sale can be credited once (document, POST /v1/credit-notes). */
function requireNotCredited(world: World, saleId: string, by?: DocumentRecord): void {
  const note = world.documents.liveCreditNote(saleId);
  if (note === undefined || note === by) return;
  const extras = { creditNoteId: note.sale.id };
  throw new ApiError(422, world.dialect.errors.alreadyCredited, "The sale is already credited", extras);
}

function draftCreditNote(world: World, call: Call<Caller>, business: Business): DocumentDraft {
  const body = call.body();
  const traderInvoiceNumber = body.text("traderInvoiceNumber", 50);
  const saleDate = body.day("returnDate");
  const originalSaleId = body.text("saleId", 200);
  const reason = body.oneOf("reason", reasons);
  const callbackUrl = readCallbackUrl(body, "callbackUrl");
  call.refuseOthers();

  const { sale, branchId } = requireDocument(world, business, originalSaleId);
  if (sale.type !== "sale") throw new ApiError(422, "not_creditable", "A credit note cannot be credited", { sale });
  requireNotCredited(world, originalSaleId);
  if (sale.status !== "completed")
    throw new ApiError(422, "sale_not_completed", `A ${sale.status} sale cannot be credited`, { sale });
  return {
    sale: {
      type: "credit_note",
      traderInvoiceNumber,
      saleDate,
      paymentTypeCode: sale.paymentTypeCode,
      customer: { ...sale.customer },
      lines: sale.lines.map((line) => ({
        ...reversed(line),
        id: `line_${randomUUID()}`,
        quantity: negated(line.quantity),
      })),
      totals: reversed(sale.totals),
      originalSaleId,
    },
    businessId: business.id,
    branchId,
    reason,
    callbackUrl,
  };
}

function retry(world: World, call: Call<Caller>): Answer {
  const record = documentOf(world, call, businessOf(world, call, world.dialect.retry.businessIdIn));
  const { sale } = record;
  call.body();
  call.refuseOthers();
  touch(world, call, record);
  if (sale.status !== "failed" && !isInFlight(sale.status))
    throw new ApiError(422, "not_retryable", `A ${sale.status} document is not resubmitted`, { sale });
  if (sale.originalSaleId !== null) requireNotCredited(world, sale.originalSaleId, record);
  const reason = world.authority.submit(record, "retry");
  if (reason !== null) throw authorityRejected(world, reason);
  if (record.sale.status === "failed") throw authorityRejected(world, sale.error ?? "Rejected", sale);
  return { status: 200, body: { data: { sale } } };
}

/** A page with the receipt's number: enough to be told apart from an error, not a real PDF. */
function downloadReceipt(world: World, call: Call<Caller>, served = ""): Answer {
  const record = documentOf(world, call, businessOf(world, call, "query"));
  touch(world, call, record);
  const { receipt } = record.sale;
  if (receipt === null) throw notFound("Receipt");
  const [contentType = "application/pdf"] = typesOf(served).filter((type) => type !== "" && !type.includes("*"));
  const accepted = typesOf(call.raw.headers.accept ?? "*/*");
  if (![contentType, "*/*", `${contentType.split("/")[0]}/*`].some((type) => accepted.includes(type)))
    throw new ApiError(406, "not_acceptable", `The receipt is served as ${contentType} only.`);
  return { status: 200, contentType, body: `%PDF-1.4\n% receipt ${receipt.cuInvoiceNo ?? ""}\n%%EOF\n` };
}

function typesOf(accept: string): string[] {
  return accept.split(",").map((one) => one.split(";")[0]?.trim() ?? "");
}

/** POST /v1/sales, GET /v1/sales/{id}, POST /v1/sales/{id}/retry, POST /v1/credit-notes, and the receipt's download. */
export function salesOperations(world: World): Operation<Caller>[] {
  const { createSale, creditNote, receiptDownload } = world.dialect;
  const ofDocument = ({ params: { id = "" } }: RawCall) => {
    return { saleId: id, invoice: world.documents.get(id)?.sale.traderInvoiceNumber ?? null };
  };
  const operations: Operation<Caller>[] = [
    {
      name: "createSale",
      method: "POST",
      path: createSale.path,
      scope: "sales:write",
      facts: (_raw, body) => ({ invoice: textIn(body, createSale.fields.traderInvoiceNumber) }),
      handle: (call) => {
        const business = businessOf(world, call, createSale.businessIdIn);
        const ignoreKey = world.settings.ignoreIdempotencyKeyOnSales;
        return createDocument(world, call, () => draftSale(world, call, business), { ignoreKey });
      },
    },
    {
      name: "readSale",
      method: "GET",
      path: "/v1/sales/{id}",
      scope: "sales:read",
      facts: ofDocument,
      handle: (call) => {
        const record = documentOf(world, call, businessOf(world, call, "query"));
        call.refuseOthers();
        touch(world, call, record);
        return { status: 200, body: { data: { sale: record.sale } } };
      },
    },
    {
      name: "retry",
      method: "POST",
      path: "/v1/sales/{id}/retry",
      scope: "sales:write",
      facts: ofDocument,
      handle: (call) => retry(world, call),
    },
    {
      name: "creditNote",
      method: "POST",
      path: "/v1/credit-notes",
      scope: "sales:write",
      facts: (_raw, body) => ({ invoice: textIn(body, "traderInvoiceNumber") }),
      handle: (call) => {
        const business = businessOf(world, call, creditNote.businessIdIn);
        return createDocument(world, call, () => draftCreditNote(world, call, business), { ignoreKey: false });
      },
    },
  ];
  if (receiptDownload !== null)
    operations.push({
      name: "receiptDownload",
      method: receiptDownload.method,
      path: receiptDownload.path,
      scope: "sales:read",
      facts: ofDocument,
      handle: (call) => downloadReceipt(world, call, receiptDownload.accept),
    });
  return operations;
}
