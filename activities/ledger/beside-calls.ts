import { randomUUID } from "node:crypto";

import { Context, log } from "@temporalio/activity";

import {
  type AdjustStockRequest,
  type ComposedRequest,
  type CreateRequest,
  type CreateResult,
  type CreateSaleRequest,
  differencesFrom,
  type ReadDocumentRequest,
  type SettledAnswer,
} from "../../src/contract/index.ts";
import type { Deadline } from "../../src/http/deadline.ts";
import {
  type Answer,
  type ClaimedMovement,
  type DocumentOutcome,
  type DocumentState,
  type Ledger,
  LedgerUnavailableError,
  type UnderWay,
  type NumberOwner,
  type TakeDocumentAnswer,
  wordOf,
} from "../../src/ledger/index.ts";

/** The run that the activity works for, as a row keeps it. */
export function currentWriter(): { workflowId: string; runId: string } {
  const { workflowExecution } = Context.current().info;
  return { workflowId: workflowExecution?.workflowId ?? "no workflow", runId: workflowExecution?.runId ?? "unknown" };
}

export function claimedMovement(
  request: Pick<AdjustStockRequest, "itemId" | "action" | "quantity" | "unitPrice" | "branch">,
): ClaimedMovement {
  const { itemId, action, quantity, unitPrice, branch } = request;
  return { itemId, action, quantity, unitPrice, ...(branch && { branch: branch.id }) };
}

/** For people: the sale by its own number, where it is known, and by what the service knows it by. */
export function numberTaken(number: string, { saleId, sale, holder }: NumberOwner): string {
  const known = sale === undefined ? saleId : `${sale} (${saleId})`;
  return `The number ${number} belongs to the credit note of another sale: ${known}, of ${holder}.`;
}

/** The Idempotency-Key that is sent with it; undefined for none. */
export function keySentWith(request: CreateRequest & Partial<CreateSaleRequest>): string | undefined {
  return request.saleKey === "off" ? undefined : request.idempotencyKey;
}

/**
 * Compares an answer of the service with what was asked for, and writes it into the document's row. Where the ledger
 * does not take it the workflow has it written later: the answer must reach the workflow in any case.
 */
export async function settleAnswer(
  { documents }: Pick<Ledger, "documents">,
  { connection, businessId, of, expected, mayBeAnothers }: ReadDocumentRequest,
  answer: Answer,
): Promise<SettledAnswer> {
  if (!of) return {};
  const found = differencesFrom(answer.document, expected, of.expectedTotal);
  if (mayBeAnothers && found.differences) return found;
  try {
    return { ...found, ...(await documents.answered({ connection, businessId }, of, answer, currentWriter())) };
  } catch {
    return { ...found, unsettled: true };
  }
}

/** Whether a document of this claim exists, or may exist. */
export function isSent(claim: DocumentState | undefined): boolean {
  return claim?.documentId !== undefined || claim?.firstSentAtMs !== undefined;
}

export function isUnderWay(answer: { kind: string }): answer is UnderWay {
  return answer.kind === "under-way";
}

/** Somebody has ended its activity, or reset its run, and its worker may still be at it. */
export function stillUnderWay({ forMs }: UnderWay): string {
  return `An earlier attempt may still be at this call for ${Math.ceil(forMs / 1_000)} s.`;
}

function neverRepeated(sentAtMs: number): CreateResult {
  const firstSentAt = new Date(sentAtMs).toISOString();
  const message = `It was sent at ${firstSentAt} by an earlier try, and what became of that is not known.`;
  return { kind: "unknown", message, evidence: { firstSentAt } };
}

function keyForgotten(sentAtMs: number): CreateResult {
  const firstSentAt = new Date(sentAtMs).toISOString();
  const message = `An answer was lost, and the API remembers the key of ${firstSentAt} no longer: sent again, it could become a second document.`;
  return { kind: "unknown", message, evidence: { firstSentAt } };
}

/** What is to be sent: the bytes that were sent first. */
interface ToSend {
  kind: "send";
  request: ComposedRequest;
  /** Something of this intent may have left before. */
  isRepeated: boolean;
}

/**
 * The claim of one intent for a document. It holds the bytes that were sent first, so that every attempt of every run
 * sends the same under the same key, and the document's id once it is known, so that a run which begins anew takes it
 * over (docs/architecture.md, "One document for a number").
 * @param sendBefore after it, this execution sends nothing
 * @param repeatableForMs for so long after the first sending it may be sent again; 0: never
 */
export function documentClaim(
  { documents }: Ledger,
  asked: CreateRequest | CreateSaleRequest,
  {
    now,
    sendBefore,
    callTimeoutMs,
    repeatableForMs,
  }: { now: () => number; sendBefore: Deadline; callTimeoutMs: number; repeatableForMs: number },
) {
  const { connection, businessId, of: row, intent } = asked;
  const { movementsPlanned, expectedTotal, ...of } = row;
  const key = { connection, businessId, of, intent };
  const execution = randomUUID();
  let seen: Extract<TakeDocumentAnswer, { kind: "send" }>["seen"];
  let isSettled = false;
  return {
    /** @throws LedgerUnavailableError */
    async begin(): Promise<ToSend | CreateResult> {
      const { request, content } = asked;
      const call = { ...key, idempotencyKey: keySentWith(asked), content, request, writer: currentWriter() };
      const by = { execution, underWayForMs: sendBefore.leftMs + callTimeoutMs, repeatableForMs };
      const answer = await documents.take({ ...call, ...by, nowMs: now() });
      switch (answer.kind) {
        case "under-way":
          return { kind: "deferred", retryAfterMs: answer.forMs, message: stillUnderWay(answer), inDoubt: true };
        case "doubtful":
          return repeatableForMs === 0 ? neverRepeated(answer.firstSentAtMs) : keyForgotten(answer.firstSentAtMs);
        case "send":
          seen = answer.seen;
          // Written here alone, as it was given.
          return { kind: "send", request: answer.request as ComposedRequest, isRepeated: !answer.first };
        case "known":
          return { kind: "named", saleId: answer.documentId, message: "An earlier run of this workflow made it." };
        case "behind": {
          const { intent, decision } = answer;
          return { kind: "superseded", intent, ...(decision && { decision: wordOf(decision) }) };
        }
        case "number-taken": {
          const message = `${numberTaken(of.number, answer)} Nothing was sent. Use another number.`;
          return { kind: "number-taken", message };
        }
        case "credited-by-another": {
          const message = `The sale has the credit note ${answer.number} already, which is signed or may be. Nothing was sent. Ask for the refund under that number.`;
          return { kind: "number-taken", isOwn: true, message };
        }
        case "not-known": {
          const message =
            "The ledger had no row of it, so nobody knows whether it was sent before. Nothing was sent now.";
          return { kind: "unknown", message, evidence: {} };
        }
        case "different": {
          const firstSentAt = new Date(answer.firstSentAtMs).toISOString();
          const message = `An earlier run sent another request under this number at ${firstSentAt}, and what became of it is not known.`;
          return { kind: "unknown", message, evidence: { firstSentAt } };
        }
      }
    },

    /**
     * `document`: it exists, in whatever status. `unsent`: nothing of this intent exists, and nothing is in doubt: it
     * may be sent again, with other bytes too. `unsettled`: the ledger does not know of it yet, and the workflow has it
     * written later; the answer must reach the workflow in any case.
     * @param outcome of `unsent`: whether every execution is meant, or this one
     * @param answer what the service answered, for the row: here it is compared with what was asked for
     */
    async settle(outcome: DocumentOutcome, answer?: Answer): Promise<SettledAnswer> {
      const settled = { ...key, outcome, writer: currentWriter() };
      const found = answer ? differencesFrom(answer.document, asked.expected, expectedTotal) : {};
      try {
        let kept: SettledAnswer = {};
        if (answer) kept = await documents.settleAnswered({ ...settled, answer, movementsPlanned, seen });
        else await documents.settle(settled);
        isSettled = true;
        return { ...found, ...kept };
      } catch (error) {
        if (error instanceof LedgerUnavailableError) return { ...found, unsettled: true };
        log.error("The ledger refused an answer", { error });
        // Of an answer that it cannot keep, it still knows the document.
        if (answer) await documents.settle(settled).catch(() => undefined);
        return { ...found, unsettled: true };
      }
    },

    execution,

    /** Writes into the claim that this execution sends no more, however it ends. What is settled has ended too. */
    async ended(): Promise<void> {
      if (!isSettled) await documents.ended({ ...key, execution }).catch(() => undefined);
    },
  };
}
