import { Context } from "@temporalio/activity";

import type { LedgerActivities } from "../../src/contract/index.ts";
import { holderOf } from "./claim-results.ts";
import { numberTaken } from "../number-taken.ts";
import type { LedgerContext } from "./movements.ts";
import { onceThere } from "./once-there.ts";

export function createDocumentClaimActivities({
  ledger,
  nowMs,
  random,
}: LedgerContext): Pick<LedgerActivities, "recordDocument" | "decideDocument"> {
  return {
    recordDocument: ({ claim: workflowId, documentId, numberFor: number, ...wish }) =>
      onceThere(async () => {
        const holder = holderOf(Context.current().info);
        const begun = await ledger.documents.begin({ workflowId, ...wish, number, nowMs: nowMs(), holder });
        const { intent } = wish;
        await ledger.documents.settle({
          workflowId,
          intent,
          outcome: { kind: "document", documentId },
          nowMs: nowMs(),
        });
        return begun.kind === "number-taken" && number ? { numberTaken: numberTaken(number.number, begun) } : undefined;
      }, random),

    decideDocument: ({ claim: workflowId, intent, decision, word }) =>
      onceThere(async () => {
        const { note, by, atMs } = word;
        const who = { note, ...(by !== undefined && { by }) };
        await ledger.documents.decide({ workflowId, intent, decision, ...who, nowMs: atMs });
      }, random),
  };
}
