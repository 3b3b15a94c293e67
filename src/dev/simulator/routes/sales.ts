import { ApiError, notFound } from "../api-error.ts";
import { isInFlight } from "../authority.ts";
import { chooseBranch } from "../branch-choice.ts";
import { requireCallbackUrl } from "../callback-url.ts";
import { answeredBy, authorityRejected, createFromDraft, type DocumentDraft } from "../create-from-draft.ts";
import type { Customer, DocumentRecord } from "../document-record.ts";
import { textIn, type AdmittedCall, type Operation } from "../operation.ts";
import { priceLine, sumLines } from "../priced-lines.ts";
import type { RequestFields } from "../request-fields.ts";
import type { Business } from "../scenario-schema.ts";
import { codes, saleLimits } from "../undocumented.ts";
import type { World } from "../world.ts";

/** The document of this business, or 404. */
export function requireDocument(world: World, business: Business, id: string): DocumentRecord {
  const record = world.documents.get(id);
  if (record === undefined || record.businessId !== business.id) throw notFound("Sale");
  return record;
}

/** What the path's id tells about a call. */
export function documentFacts(world: World, id: string | undefined): { saleId: string | null; invoice: string | null } {
  return {
    saleId: id ?? null,
    invoice: world.documents.get(id ?? "")?.sale.traderInvoiceNumber ?? null,
  };
}

function readCustomer(world: World, fields: RequestFields | null): Customer {
  const names = world.dialect.createSale.customerFields;
  const customer = {
    name: fields?.optionalText(names.name, saleLimits.text) ?? null,
    pin: fields?.optionalText(names.pin, saleLimits.text) ?? null,
    phone: fields?.optionalText(names.phone, saleLimits.text) ?? null,
    email: fields?.optionalText(names.email, saleLimits.text) ?? null,
  };
  fields?.refuseOthers(world.settings.refuseUnknownFields);
  return customer;
}

function draftSale(world: World, call: AdmittedCall, business: Business): DocumentDraft {
  const { fields: names, lineFields, branchBy } = world.dialect.createSale;
  const refuse = world.settings.refuseUnknownFields;
  const body = call.body();
  const traderInvoiceNumber = body.text(names.traderInvoiceNumber, saleLimits.traderInvoiceNumber);
  const saleDate = body.optionalDay(names.saleDate);
  const paymentTypeCode = body.optionalText(names.paymentTypeCode, saleLimits.text);
  const customer = readCustomer(world, body.optionalObject(names.customer));
  const asked = body.objects(names.lines).map((line) => {
    const itemId = line.text(lineFields.itemId, 200);
    const quantity = line.amount(lineFields.quantity, "above 0");
    // A dialect that does not send the price leaves it to the item.
    const unitPrice = lineFields.unitPrice === null ? null : line.amount(lineFields.unitPrice, "at least 0");
    line.refuseOthers(refuse);
    return { itemId, quantity, unitPrice };
  });
  const branch = chooseBranch(business, names.branch, body.optionalText(names.branch, 200), branchBy);
  const callbackUrl = body.optionalText(names.callbackUrl, Number.POSITIVE_INFINITY);
  if (callbackUrl !== null)
    requireCallbackUrl(names.callbackUrl ?? "callbackUrl", callbackUrl, world.settings.allowLoopbackCallbacks);
  body.refuseOthers(refuse);
  call.refuseOtherQuery();
  const lines = asked.map(({ itemId, quantity, unitPrice }) => {
    const item = world.catalogue.require(business.id, itemId);
    const line = { item, quantity, unitPrice: unitPrice ?? item.unitPrice, description: null };
    return priceLine(line, world.catalogue.taxRate(item), world.unitPriceIncludesTax);
  });
  return {
    sale: {
      type: "sale",
      traderInvoiceNumber,
      saleDate,
      paymentTypeCode,
      customer,
      lines,
      totals: sumLines(lines),
      originalSaleId: null,
    },
    businessId: business.id,
    branchId: branch.id,
    reason: null,
    callbackUrl,
  };
}

function requireRetryable(world: World, record: DocumentRecord): void {
  const { sale } = record;
  if (sale.status !== "failed" && !isInFlight(sale.status))
    throw new ApiError(422, codes.notRetryable, `A ${sale.status} document is not resubmitted`, {
      sale: record.sale,
    });
  const note = sale.originalSaleId === null ? undefined : world.documents.liveCreditNote(sale.originalSaleId);
  if (note !== undefined && note !== record)
    throw new ApiError(422, world.dialect.errors.alreadyCredited, "The sale is already credited", {
      creditNoteId: note.sale.id,
    });
}

/** POST /v1/sales, GET /v1/sales/{id} and POST /v1/sales/{id}/retry. */
export function salesOperations(world: World): Operation[] {
  const { createSale, retry } = world.dialect;
  return [
    {
      name: "createSale",
      method: "POST",
      path: createSale.path,
      scope: "sales:write",
      businessIdIn: createSale.businessIdIn,
      facts: (_params, body) => ({ invoice: textIn(body, createSale.fields.traderInvoiceNumber) }),
      handle: (call) => {
        const business = call.business();
        const ignoreIdempotencyKey = world.settings.ignoreIdempotencyKeyOnSales;
        return createFromDraft(world, call, { operation: "createSale", ignoreIdempotencyKey }, () =>
          draftSale(world, call, business),
        );
      },
    },
    {
      name: "readSale",
      method: "GET",
      path: "/v1/sales/{id}",
      scope: "sales:read",
      businessIdIn: "query",
      facts: (params) => documentFacts(world, params["id"]),
      handle: (call) => {
        const record = requireDocument(world, call.business(), call.params["id"] ?? "");
        call.refuseOtherQuery();
        call.touch(record);
        return { status: 200, body: { data: { sale: record.sale } } };
      },
    },
    {
      name: "retry",
      method: "POST",
      path: "/v1/sales/{id}/retry",
      scope: "sales:write",
      businessIdIn: retry.businessIdIn,
      facts: (params) => documentFacts(world, params["id"]),
      handle: (call) => {
        const record = requireDocument(world, call.business(), call.params["id"] ?? "");
        call.body().refuseOthers(world.settings.refuseUnknownFields);
        call.refuseOtherQuery();
        call.touch(record);
        requireRetryable(world, record);
        const ruling = world.authority.submit(record, "retry");
        if (ruling.kind === "answered") throw answeredBy(ruling.step);
        if (ruling.kind === "rejected-without-document") throw authorityRejected(world, ruling.reason, null);
        const { status, error } = record.sale;
        if (status === "failed") throw authorityRejected(world, error ?? "Rejected", record);
        return { status: 200, body: { data: { sale: record.sale } } };
      },
    },
  ];
}
