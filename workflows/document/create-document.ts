import { ActivityFailure, condition, TimeoutFailure } from "@temporalio/workflow";

import { type Composed, type CreateResult, idempotencyKey, type SaleDocument } from "../../src/contract/index.ts";
import { answered, isRefusal, parkOnRefusal, rootMessage } from "../run/answered.ts";
import { CancelledByPerson } from "../run/cancelled-by-person.ts";
import { growingPauseMs } from "../run/growing-pause.ts";
import { park } from "../run/park.ts";
import { type ExpectedDocument, mismatches } from "./matching.ts";
import { readDocument } from "./read-document.ts";
import type { Work } from "./work.ts";

export interface Creation {
  /** What the key is made of beside the workflow's id. */
  step: string;
  expected: ExpectedDocument;
  compose: () => Promise<Composed>;
  send: (request: { composed: Extract<Composed, { kind: "composed" }>; key: string }) => Promise<CreateResult>;
  /**
   * Where the service knows a credit note of the sale already: ours to adopt, or somebody else's, with which this run ends.
   * @throws whatever ends the run
   */
  alreadyCredited?: (result: Extract<CreateResult, { kind: "already-credited" }>) => Promise<SaleDocument>;
}

export interface Created {
  document: SaleDocument;
  callbackExpected: boolean;
}

/**
 * Brings the document into being, exactly once: one key and byte-equal bodies for one intent. A new intent, with a new key, is
 * made only by a person's `retry` after an answer that says that the old key is spent and that nothing exists under it.
 * @throws CancelledByPerson while no document exists
 */
export async function createDocument(work: Work, creation: Creation): Promise<Created> {
  const { run } = work;
  let intent = 1;
  let composed: Extract<Composed, { kind: "composed" }> | undefined;
  let rejectedWithoutTrace = 0;
  let deferrals = 0;
  for (let refusals = 0; ;) {
    composed ??= await answered(run, creation.compose);
    if (run.cancelDue) throw new CancelledByPerson(run.cancelRequested ?? "");
    run.numberTaken = true;
    run.documentInDoubt = true;
    const key = idempotencyKey(run.workflowId, creation.step, intent);
    const result = await lostAsUnknown(creation.send({ composed, key }));
    const { callbackExpected } = composed;
    if (isRefusal(result)) {
      // An answer that fits no rule says nothing about what happened behind it.
      run.documentInDoubt = result.attention === "unexpected-answer";
      await parkOnRefusal(run, result, refusals++);
      // The service refused the body itself, so a mended one is another request: it must not meet the old one's key.
      if (result.attention === "invalid-request") {
        composed = undefined;
        intent++;
      }
      continue;
    }
    switch (result.kind) {
      case "document":
        await checkOurs(work, result.document, creation.expected, result.replayed);
        return { document: result.document, callbackExpected };
      case "deferred":
        run.documentInDoubt = false;
        await condition(() => run.cancelDue, result.retryAfterMs ?? growingPauseMs(deferrals++));
        break;
      case "named": {
        const document = await readDocument(work, result.saleId);
        await checkOurs(work, document, creation.expected, true);
        return { document, callbackExpected };
      }
      case "rejected": {
        const document = result.document ?? (result.saleId ? await readDocument(work, result.saleId) : undefined);
        if (document) {
          await checkOurs(work, document, creation.expected, true);
          return { document, callbackExpected };
        }
        run.documentInDoubt = false;
        if (result.repeatable && rejectedWithoutTrace++ === 0)
          await condition(() => run.cancelDue, work.profile.timings.firstPollMs);
        else if (await parkRejected(work, result.message)) intent += result.replayed ? 1 : 0;
        break;
      }
      case "already-credited": {
        run.documentInDoubt = false;
        const adopted = await creation.alreadyCredited?.(result);
        if (adopted) return { document: adopted, callbackExpected: false };
        await parkRejected(work, result.message);
        break;
      }
      case "unknown": {
        const document = await parkUnknown(work, result, creation.expected);
        if (document) return { document, callbackExpected };
        break;
      }
    }
  }
}

/** A document that is not what was asked for: a replayed one may be somebody else's, so it waits for a person's word. */
async function checkOurs(
  work: Work,
  document: SaleDocument,
  expected: ExpectedDocument,
  replayed: boolean,
): Promise<void> {
  const found = mismatches(document, expected);
  if (found.length === 0) return;
  const attention = { code: "mismatch" as const, message: found.join("; "), evidence: { documentId: document.id } };
  if (replayed) await park(work.run, attention);
  else work.run.raise(attention);
}

async function parkRejected(work: Work, message: string): Promise<true> {
  const { run } = work;
  run.moveTo("rejected", "a person: the document was refused and left no trace");
  const verdict = await park(run, { code: "rejected", message });
  if (verdict === "cancel") throw new CancelledByPerson(run.cancelRequested ?? "");
  run.moveTo("submitting", "the answer to another try");
  return true;
}

/** The document, once a person has named it; undefined where a person says that it was not created. */
async function parkUnknown(
  work: Work,
  result: Extract<CreateResult, { kind: "unknown" }>,
  expected: ExpectedDocument,
): Promise<SaleDocument | undefined> {
  const { run } = work;
  for (;;) {
    await park(run, { code: "document-unknown", message: result.message, evidence: result.evidence });
    const answer = run.decisions.findLast((decision) => decision.code === "document-unknown")?.answer;
    if (answer === undefined || answer === "not created") {
      run.documentInDoubt = false;
      return undefined;
    }
    const document = await readDocument(work, answer);
    const found = mismatches(document, expected);
    if (found.length === 0) return document;
    result = { ...result, message: `The document ${answer} is not this one: ${found.join("; ")}. ${result.message}` };
  }
}

/** A call that ended without an answer, and whose total bound is over, is unknown; one that no worker took was never sent. */
async function lostAsUnknown(call: Promise<CreateResult>): Promise<CreateResult> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const neverStarted = error.cause instanceof TimeoutFailure && error.cause.timeoutType === "SCHEDULE_TO_START";
    const message = `${error.activityType} ended without an answer: ${rootMessage(error)}`;
    if (neverStarted) return { kind: "deferred", message };
    return { kind: "unknown", message, evidence: { activityId: error.activityId ?? "" } };
  }
}
