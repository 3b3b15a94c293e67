import type {
  AdjustStockRequest,
  AdjustStockResult,
  CallUnderWay,
  AppliedMovement,
  CreateRequest,
  CreateResult,
  DecideDocumentRequest,
  OperatorDecision,
} from "../../src/contract/index.ts";
import type { ReadableEvent } from "./readable-history.ts";

/**
 * What a run is known to have done with one movement, in the end. One that it certainly did not send, or that was
 * refused, is none.
 */
export interface MovementFinding {
  request: AdjustStockRequest;
  sentAtMs: number;
  outcome: AppliedMovement | { kind: "said"; applied: boolean; word: OperatorDecision } | { kind: "unknown" };
}

/** What a run is known to have made of one intent for a document. */
export interface DocumentFinding {
  claim: string;
  request: CreateRequest;
  firstSentAtMs: number;
  outcome: { kind: "made"; documentId: string } | { kind: "in-doubt" };
}

export interface Findings {
  movements: MovementFinding[];
  documents: DocumentFinding[];
}

/**
 * Follows each movement and each document of a run through its history: the answers that may not have reached the
 * ledger, which was away when they came. Of a request that has no answer its claim knows more than the history.
 */
export function findingsOf(history: readonly ReadableEvent[]): Findings {
  const movements = new Map<string, MovementFinding>();
  const documents = new Map<string, DocumentFinding>();
  const scheduled = new Map<number, { movement?: AdjustStockRequest; document?: CreateRequest; atMs: number }>();
  for (const event of history) {
    switch (event.kind) {
      case "scheduled":
        if (event.activity === "adjustStock") {
          const request = event.input as AdjustStockRequest;
          scheduled.set(event.eventId, { movement: request, atMs: event.atMs });
        } else if (event.activity === "createSale" || event.activity === "createCreditNote") {
          const request = event.input as CreateRequest;
          scheduled.set(event.eventId, { document: request, atMs: event.atMs });
        } else if (event.activity === "decideDocument") decideDocument(documents, event.input as DecideDocumentRequest);
        break;
      case "completed": {
        const { movement, document, atMs = 0 } = scheduled.get(event.scheduledEventId) ?? {};
        if (movement) answerMovement(movements, movement, said<AdjustStockResult | CallUnderWay>(event.result), atMs);
        if (document) answerDocument(documents, document, said<CreateResult>(event.result), atMs);
        break;
      }
      case "update":
        if (event.name === "resolveStock") decideMovement(movements, event);
    }
  }
  return { movements: [...movements.values()], documents: [...documents.values()] };
}

/** What an operator completed an activity with may be of any form, and then says nothing of the outcome. */
function said<Result extends { kind: string }>(result: unknown): Result | { kind: "unknown" } {
  const hasKind = typeof result === "object" && result !== null && "kind" in result && typeof result.kind === "string";
  return hasKind ? (result as Result) : { kind: "unknown" };
}

function unknownOf(request: AdjustStockRequest, sentAtMs: number): MovementFinding {
  return { request, sentAtMs, outcome: { kind: "unknown" } };
}

function answerMovement(
  movements: Map<string, MovementFinding>,
  request: AdjustStockRequest,
  result: AdjustStockResult | CallUnderWay | { kind: "unknown" },
  sentAtMs: number,
): void {
  const { referenceId } = request;
  if (result.kind === "applied") movements.set(referenceId, { request, sentAtMs, outcome: result });
  else if (result.kind === "unknown" || result.kind === "under-way")
    movements.set(referenceId, unknownOf(request, sentAtMs));
  else if (result.kind === "said-applied")
    movements.set(referenceId, { request, sentAtMs, outcome: { kind: "said", applied: true, word: result.word } });
  else movements.delete(referenceId);
}

function answerDocument(
  documents: Map<string, DocumentFinding>,
  request: CreateRequest,
  result: CreateResult | { kind: "unknown" },
  atMs: number,
): void {
  const { claim } = request;
  const documentId = documentIdIn(result);
  const firstSentAtMs = request.firstSentAtMs ?? atMs;
  if (documentId !== undefined) {
    documents.set(claim, { claim, request, firstSentAtMs, outcome: { kind: "made", documentId } });
    return;
  }
  const unsaid = result.kind === "deferred" ? result.claim : undefined;
  if (unsaid === "unread" && documents.has(claim)) return;
  const since = "firstSentAtMs" in result ? result.firstSentAtMs : undefined;
  if (result.kind === "unknown" || unsaid === "under-way" || since !== undefined)
    documents.set(claim, { claim, request, firstSentAtMs: since ?? firstSentAtMs, outcome: { kind: "in-doubt" } });
  else documents.delete(claim);
}

function documentIdIn(result: CreateResult | { kind: "unknown" }): string | undefined {
  if (result.kind === "document") return result.document.id;
  if (result.kind === "named") return result.saleId;
  return result.kind === "rejected" ? (result.document?.id ?? result.saleId) : undefined;
}

/** As the update's validator let it through. */
function decideMovement(
  movements: Map<string, MovementFinding>,
  { input, atMs }: Extract<ReadableEvent, { kind: "update" }>,
): void {
  const message = (input ?? {}) as Record<string, unknown>;
  const { note, by } = message;
  const word = { note: String(note), atMs, ...(typeof by === "string" && { by }) };
  const finding = movements.get(String(message["referenceId"]));
  if (finding) finding.outcome = { kind: "said", applied: message["applied"] === true, word };
}

/** What an operator said is looked at before it is written down: a mistyped id never comes to this. */
function decideDocument(documents: Map<string, DocumentFinding>, { claim, decision }: DecideDocumentRequest): void {
  const finding = documents.get(claim);
  if (!finding) return;
  if (decision === "not-created") documents.delete(claim);
  else finding.outcome = { kind: "made", documentId: decision.saleId };
}
