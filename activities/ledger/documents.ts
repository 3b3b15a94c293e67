import type { LedgerActivities } from "../../src/contract/index.ts";
import { currentHolder, currentWriter, numberTaken } from "./beside-calls.ts";
import type { LedgerContext } from "./movements.ts";

export function createDocumentActivities({ ledger, nowMs }: LedgerContext) {
  return {
    recordDocument: async ({ claim: workflowId, documentId, numberFor: number, ...call }) => {
      const holder = currentHolder();
      const begun = await ledger.documents.begin({ workflowId, ...call, number, nowMs: nowMs(), holder });
      const { intent } = call;
      await ledger.documents.settle({
        workflowId,
        intent,
        outcome: { kind: "document", documentId },
        nowMs: nowMs(),
      });
      return begun.kind === "number-taken" && number ? { numberTaken: numberTaken(number.number, begun) } : undefined;
    },

    decideDocument: ({ claim: workflowId, intent, decision, word: { note, by, atMs: nowMs } }) =>
      ledger.documents.decide({ workflowId, intent, decision, note, by, nowMs }),

    saveRecord: async ({ connection, businessId, record }) => {
      const writer = currentWriter();
      const answer = await ledger.records.saveDocument({ connection, businessId }, record, writer);
      return answer === "saved" || answer === "unchanged" || answer === "older" ? "kept" : answer;
    },
  } satisfies Partial<LedgerActivities>;
}
