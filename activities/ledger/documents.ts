import { Context } from "@temporalio/activity";

import type { LedgerActivities } from "../../src/contract/index.ts";
import { retryWhileLedgerAway } from "../failure.ts";
import { holderOf, numberTaken, writerOf } from "./claim-results.ts";
import type { LedgerContext } from "./movements.ts";

export function createDocumentClaimActivities({
  ledger,
  nowMs,
  random,
}: LedgerContext): Pick<LedgerActivities, "recordDocument" | "decideDocument"> {
  return {
    recordDocument: ({ claim: workflowId, documentId, numberFor: number, ...call }) =>
      retryWhileLedgerAway(async () => {
        const holder = holderOf(Context.current().info);
        const begun = await ledger.documents.begin({ workflowId, ...call, number, nowMs: nowMs(), holder });
        const { intent } = call;
        await ledger.documents.settle({
          workflowId,
          intent,
          outcome: { kind: "document", documentId },
          nowMs: nowMs(),
        });
        return begun.kind === "number-taken" && number ? { numberTaken: numberTaken(number.number, begun) } : undefined;
      }, random),

    decideDocument: ({ claim: workflowId, intent, decision, word }) =>
      retryWhileLedgerAway(async () => {
        const { note, by, atMs } = word;
        const who = { note, ...(by !== undefined && { by }) };
        await ledger.documents.decide({ workflowId, intent, decision, ...who, nowMs: atMs });
      }, random),
  };
}

export function createRecordActivities({ ledger, random }: LedgerContext): Pick<LedgerActivities, "saveRecord"> {
  return {
    saveRecord: ({ connection, businessId, record }) =>
      retryWhileLedgerAway(async () => {
        const writer = writerOf(Context.current().info);
        const answer = await ledger.records.saveDocument({ connection, businessId }, record, writer);
        return answer === "saved" || answer === "unchanged" || answer === "older" ? "kept" : answer;
      }, random),
  };
}
