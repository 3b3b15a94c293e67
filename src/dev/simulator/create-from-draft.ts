import { randomUUID } from "node:crypto";
import { ApiError } from "./api-error.ts";
import { isInFlight } from "./authority.ts";
import { awaitingCallback } from "./callback-delivery.ts";
import type { DocumentRecord, Sale } from "./document-record.ts";
import { idempotencyKeyIn, type KeptResult } from "./idempotency.ts";
import type { AdmittedCall, Answer } from "./operation.ts";
import type { World } from "./world.ts";

/** What a creation asks for, once it is validated. */
export interface DocumentDraft {
  sale: Omit<Sale, "id" | "status" | "receipt" | "error" | "callback">;
  businessId: string;
  branchId: string;
  reason: string | null;
  callbackUrl: string | null;
}

/** A record nobody has submitted yet. */
export function draftedRecord(
  draft: DocumentDraft,
  made: { nowMs: number; id?: string | undefined; application: string | null; idempotencyKey: string | null },
): DocumentRecord {
  const prefix = draft.sale.type === "sale" ? "sale" : "credit_note";
  return {
    sale: {
      id: made.id ?? `${prefix}_${randomUUID()}`,
      ...draft.sale,
      status: "pending",
      receipt: null,
      error: null,
      callback: draft.callbackUrl === null ? null : awaitingCallback(draft.callbackUrl),
    },
    businessId: draft.businessId,
    branchId: draft.branchId,
    application: made.application,
    idempotencyKey: made.idempotencyKey,
    reason: draft.reason,
    createdAtMs: made.nowMs,
    settledAtMs: null,
    submissions: 0,
    calls: [],
    script: null,
    scriptPosition: 0,
    cancelTimer: null,
  };
}

export function authorityRejected(world: World, reason: string, record: DocumentRecord | null): ApiError {
  const extras = record === null ? {} : { sale: record.sale };
  return new ApiError(422, world.dialect.errors.authorityRejected, reason, extras);
}

function replayed(world: World, call: AdmittedCall, kept: KeptResult): Answer {
  const headers = { "idempotent-replayed": "true" };
  call.markReplayed();
  if ("rejection" in kept) {
    const { status, code, message, extras } = kept.rejection;
    throw new ApiError(status, code, message, extras, headers);
  }
  const record = world.documents.get(kept.documentId);
  if (record === undefined) throw new Error(`The document ${kept.documentId} of an idempotency key is gone`);
  call.touch(record);
  return { status: 200, headers, body: { data: { sale: record.sale } } };
}

/**
 * Files a document: replays it for a known idempotency key, otherwise validates, submits and answers 201, 202 or 422
 * (document, States: `(new)`).
 */
export function createFromDraft(
  world: World,
  call: AdmittedCall,
  options: { operation: string; ignoreIdempotencyKey: boolean },
  draft: () => DocumentDraft,
): Answer {
  const application = call.caller.application.name;
  const idempotencyKey = options.ignoreIdempotencyKey ? null : idempotencyKeyIn(call.headers["idempotency-key"]);
  const request =
    idempotencyKey === null
      ? null
      : { atMs: world.nowMs(), operation: options.operation, application, idempotencyKey, body: call.rawBody() };
  const kept = request === null ? undefined : world.idempotency.replay(request);
  if (kept !== undefined) return replayed(world, call, kept);

  const record = draftedRecord(draft(), { nowMs: world.nowMs(), application, idempotencyKey });
  const ruling = world.authority.submit(record, "creation");
  if (ruling.kind === "answered") throw answeredBy(ruling.step);
  if (ruling.kind === "rejected-without-document") {
    const invoice = record.sale.traderInvoiceNumber;
    world.rejections.push({ atMs: world.nowMs(), invoice, reason: ruling.reason });
    const rejection = authorityRejected(world, ruling.reason, null);
    if (request !== null) world.idempotency.keep(request, { rejection });
    throw rejection;
  }
  world.documents.add(record);
  call.touch(record);
  if (request !== null) world.idempotency.keep(request, { documentId: record.sale.id });
  const { status, error } = record.sale;
  if (status === "failed") throw authorityRejected(world, error ?? "Rejected", record);
  return { status: isInFlight(status) ? 202 : 201, body: { data: { sale: record.sale } } };
}

/** The refusal of a scripted `answer` step. */
export function answeredBy(step: {
  status: number;
  code?: string | undefined;
  message?: string | undefined;
}): ApiError {
  return new ApiError(step.status, step.code ?? "unavailable", step.message ?? "The authority cannot be reached");
}
