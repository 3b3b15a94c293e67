import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import { awaitingCallback } from "./callbacks.ts";
import { negated, productInCents, taxInsideCents } from "./decimal.ts";
import type { DocumentRecord, Sale, SaleLine } from "./documents.ts";
import type { Caller } from "./keyring.ts";
import { ApiError, invalidRequest } from "./request.ts";
import { elsewhereSaleSchema, InstructionError, isInFlight, type Item, known, parseInstruction } from "./scenario.ts";
import { type Answer, type Call, parsedBody } from "./service.ts";
import { chooseBranch, type KeptResult, type World } from "./world.ts";

/** What a creation asks for, once it is validated. */
export interface DocumentDraft extends Pick<DocumentRecord, "businessId" | "branchId" | "reason"> {
  sale: Omit<Sale, "id" | "status" | "receipt" | "error" | "callback">;
  callbackUrl: string | null;
}

/** A line with its amounts, each rounded half up to cents; the price includes the tax. */
export function priceLine(
  world: World,
  { id, name, taxTypeCode }: Item,
  { quantity, unitPrice, description }: Pick<SaleLine, "quantity" | "unitPrice" | "description">,
): SaleLine {
  const taxRate = world.taxRates[taxTypeCode] ?? 0;
  const totalCents = productInCents(quantity, unitPrice);
  const taxCents = taxInsideCents(totalCents, taxRate);
  return {
    id: `line_${randomUUID()}`,
    itemId: id,
    name,
    description,
    quantity,
    unitPrice,
    total: totalCents / 100,
    taxableAmount: (totalCents - taxCents) / 100,
    taxAmount: taxCents / 100,
    taxRate,
    taxTypeCode,
  };
}

/** Sums in whole cents, so that no binary drift gets into a total. */
function sumLines(lines: readonly SaleLine[]): Sale["totals"] {
  const sum = (amountOf: (line: SaleLine) => number): number =>
    lines.reduce((cents, line) => cents + Math.round(amountOf(line) * 100), 0) / 100;
  return {
    total: sum((line) => line.total),
    taxableAmount: sum((line) => line.taxableAmount),
    taxAmount: sum((line) => line.taxAmount),
  };
}

export function draftOfSale(
  asked: Pick<Sale, "traderInvoiceNumber" | "saleDate" | "paymentTypeCode" | "customer" | "lines"> &
    Pick<DocumentDraft, "businessId" | "branchId" | "callbackUrl">,
): DocumentDraft {
  const { traderInvoiceNumber, saleDate, paymentTypeCode, customer, lines } = asked;
  const amounts = { lines, totals: sumLines(lines), originalSaleId: null };
  const sale = { type: "sale" as const, traderInvoiceNumber, saleDate, paymentTypeCode, customer, ...amounts };
  const { businessId, branchId, callbackUrl } = asked;
  return { sale, businessId, branchId, reason: null, callbackUrl };
}

/** The amounts of a credit note. */
export function reversed<T extends Sale["totals"]>(amounts: T): T {
  const { total, taxableAmount, taxAmount } = amounts;
  return {
    ...amounts,
    total: negated(total),
    taxableAmount: negated(taxableAmount),
    taxAmount: negated(taxAmount),
  };
}

/** A record nobody has submitted yet. */
function draftedRecord(
  world: World,
  { sale, callbackUrl, ...where }: DocumentDraft,
  by: Pick<DocumentRecord, "application" | "idempotencyKey">,
  id = `${sale.type}_${randomUUID()}`,
): DocumentRecord {
  return {
    sale: {
      id,
      ...sale,
      status: "pending",
      receipt: null,
      error: null,
      callback: callbackUrl === null ? null : awaitingCallback(callbackUrl),
    },
    ...where,
    ...by,
    createdAtMs: world.nowMs(),
    submissions: 0,
    calls: [],
    script: null,
    scriptPosition: 0,
    cancelTimer: null,
  };
}

export function authorityRejected(world: World, reason: string, sale?: Sale): ApiError {
  return new ApiError(422, world.dialect.errors.authorityRejected, reason, sale && { sale });
}

/** Writes the call into the document's own list. */
export function touch(world: World, { entry }: Call<Caller>, record: DocumentRecord): void {
  record.calls.push(entry);
  world.calls.note(entry, { invoice: record.sale.traderInvoiceNumber, saleId: record.sale.id });
}

/** The key in the header, or a refusal of its form (document: 8 to 128 characters matching `^[A-Za-z0-9._:-]+$`). */
function idempotencyKeyIn(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header !== "string" || !/^[A-Za-z0-9._:-]{8,128}$/.test(header))
    throw invalidRequest("Idempotency-Key", "must be 8 to 128 characters of A-Z a-z 0-9 . _ : -");
  return header;
}

function replayed(world: World, call: Call<Caller>, { result }: KeptResult): Answer {
  const headers = { "idempotent-replayed": "true" };
  call.entry.replayed = true;
  if (result instanceof ApiError) throw new ApiError(result.status, result.code, result.message, {}, headers);
  touch(world, call, result);
  return { status: 200, headers, body: { data: { sale: result.sale } } };
}

/**
 * Files a document: replays it for a known idempotency key, otherwise validates, submits and answers 201, 202 or 422
 * (document, States: `(new)`). A key belongs to one application and one operation; a body other than the original's is
 * only noted.
 */
export function createDocument(
  world: World,
  call: Call<Caller>,
  draft: () => DocumentDraft,
  { ignoreKey }: { ignoreKey: boolean },
): Answer {
  const application = call.caller.application.name;
  const { operation } = call.entry;
  const idempotencyKey = ignoreKey ? null : idempotencyKeyIn(call.raw.headers["idempotency-key"]);
  const slot = `${application} ${operation} ${idempotencyKey}`;
  const body = parsedBody(call.raw.body);
  const kept = idempotencyKey === null ? undefined : world.kept.get(slot);
  if (kept !== undefined && idempotencyKey !== null) {
    if (!isDeepStrictEqual(kept.body, body))
      world.keyReuses.push({ atMs: world.nowMs(), operation, application, idempotencyKey });
    return replayed(world, call, kept);
  }
  const keep = (result: KeptResult["result"]): void => {
    if (idempotencyKey !== null) world.kept.set(slot, { result, body });
  };

  const record = draftedRecord(world, draft(), { application, idempotencyKey });
  const reason = world.authority.submit(record, "creation");
  if (reason !== null) {
    const rejection = authorityRejected(world, reason);
    keep(rejection);
    throw rejection;
  }
  world.documents.add(record);
  touch(world, call, record);
  keep(record);
  const { status, error } = record.sale;
  if (status === "failed") throw authorityRejected(world, error ?? "Rejected", record.sale);
  return { status: isInFlight(status) ? 202 : 201, body: { data: { sale: record.sale } } };
}

/** Adds a sale that the API did not create, in the status it is given; it never goes through the scripted authority. */
export function issueElsewhere(world: World, raw: unknown, at = "sale"): DocumentRecord {
  const asked = parseInstruction(at, elsewhereSaleSchema, raw);
  const business = known("business", world.businesses, asked.businessId);
  if (asked.id !== undefined && world.documents.get(asked.id) !== undefined)
    throw new InstructionError("sale", [`${at}.id: "${asked.id}" exists`]);
  const lines = asked.lines.map((line, index) => {
    const item = world.items.get(line.itemId);
    if (item === undefined || item.businessId !== business.id) {
      const problem = `${at}.lines[${index}].itemId: business "${business.id}" has no item "${line.itemId}"`;
      throw new InstructionError("sale", [problem]);
    }
    return priceLine(world, item, { ...line, unitPrice: line.unitPrice ?? item.unitPrice });
  });
  const branchId = chooseBranch(business, "branchId", asked.branchId ?? null, "id");
  const draft = draftOfSale({ ...asked, lines, businessId: business.id, branchId, callbackUrl: null });
  const record = draftedRecord(world, draft, { application: null, idempotencyKey: null }, asked.id);
  world.documents.add(record);
  world.authority.force(record, asked.status, { error: asked.error });
  return record;
}
