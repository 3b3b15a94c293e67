import { classifyDocument, ComplianceApiError } from "../../src/compliance/index.ts";
import type { ComplianceActivities, CreateRequest, CreateResult, SaleDocument } from "../../src/contract/index.ts";
import { afterQuotaMs } from "../failure.ts";
import { beyondTheTable, judge, type Judged, refusalOf, throwToTryAgain } from "./judge.ts";
import { firstSentBefore, rememberForNextAttempt } from "./key-life.ts";
import { type ActivityContext, type ComplianceRuntime, runtimeOf, servesNo } from "./runtime.ts";

/** The two requests that bring a document into being, each under its Idempotency-Key. */
export function createCreationActivities(
  context: ActivityContext,
): Pick<ComplianceActivities, "createSale" | "createCreditNote"> {
  const { random, nowMs } = context;

  function send(runtime: ComplianceRuntime, operation: "createSale" | "createCreditNote", request: CreateRequest) {
    const { idempotencyKey } = request;
    const call = () => runtime.client[operation](request.request, { idempotencyKey });
    return judge(runtime, operation, request, call, (result) => classifyDocument(result, runtime.dialect));
  }

  /** Repeated by Temporal for as long as the service remembers the key, which begins with the first attempt that may have left. */
  async function createKeyed(
    operation: "createSale" | "createCreditNote",
    request: CreateRequest,
  ): Promise<CreateResult> {
    const runtime = runtimeOf(context, request.connection);
    const { keyLifeMs, callTimeoutMs } = runtime.profile.timings;
    const before = firstSentBefore(request);
    const sentAtMs = nowMs();
    if (before !== undefined && sentAtMs + callTimeoutMs > before + keyLifeMs) {
      const since = new Date(before).toISOString();
      const message = `An answer was lost, and the service remembers the key of ${since} no longer: sent again, it could become a second document.`;
      return { kind: "unknown", message, evidence: { firstSentAt: since } };
    }
    const judged = await send(runtime, operation, request);
    const { kind } = judged.meaning;
    const doubtful = kind === "unknown-keyed" || kind === "unexpected";
    const firstSentAtMs = before ?? (doubtful ? sentAtMs : undefined);
    if (kind === "deferred" || kind === "not-applied" || kind === "unknown-keyed")
      rememberForNextAttempt(firstSentAtMs);
    throwToTryAgain(judged, random);
    return createResult(judged, random, firstSentAtMs);
  }

  /** Tried once: a failure would read as a lost answer, so everything is a result. */
  async function createUnkeyed(request: CreateRequest): Promise<CreateResult> {
    const runtime = context.connections.get(request.connection);
    if (!runtime) return { kind: "deferred", message: servesNo(context, request.connection) };
    return createResult(await send(runtime, "createSale", request), random, undefined);
  }

  return {
    createSale(request) {
      const runtime = context.connections.get(request.connection);
      // Which of the two it is was decided when the workflow began, and stands in its profile; a worker without the connection
      // must not fail the one that is tried once.
      return runtime?.profile.saleKey === "trusted" ? createKeyed("createSale", request) : createUnkeyed(request);
    },
    createCreditNote: (request) => createKeyed("createCreditNote", request),
  };
}

function createResult(
  judged: Judged<SaleDocument>,
  random: () => number,
  firstSentAtMs: number | undefined,
): CreateResult {
  const { meaning, data, message, error } = judged;
  if (data) return { kind: "document", document: data, replayed: judged.replayed };
  switch (meaning.kind) {
    case "rejected": {
      const document = error instanceof ComplianceApiError ? error.extras.sale : undefined;
      return { kind: "rejected", document, saleId: meaning.documentId, message, repeatable: false };
    }
    case "rejected-without-trace":
      return { kind: "rejected", message, repeatable: meaning.repeatable };
    case "already-credited":
      return { kind: "already-credited", creditNoteId: meaning.creditNoteId, message };
    case "deferred":
      return { kind: "deferred", retryAfterMs: afterQuotaMs(meaning.retryAfterMs, random), message, firstSentAtMs };
    case "not-applied":
      return { kind: "deferred", message, firstSentAtMs };
    case "unknown-keyed":
    case "unknown":
      if (meaning.documentId !== undefined) return { kind: "named", saleId: meaning.documentId, message };
      return { kind: "unknown", message, evidence: {} };
    case "unexpected":
      if (meaning.documentId !== undefined) return { kind: "named", saleId: meaning.documentId, message };
      return { ...(refusalOf(judged) ?? beyondTheTable(judged)), firstSentAtMs };
    default:
      return { ...(refusalOf(judged) ?? beyondTheTable(judged)), firstSentAtMs };
  }
}
