import type { LedgerActivities } from "../../src/contract/index.ts";
import { currentWriter } from "./beside-calls.ts";
import type { LedgerContext } from "./movements.ts";

export function createCorrectionActivities({ ledger: { corrections } }: LedgerContext) {
  return {
    beginCorrection: async ({ connection, businessId, invoice, correctedBy, creditNote, fingerprint }) => {
      const wanted = { invoice, correctedBy, creditNote, fingerprint };
      const other = await corrections.begin({ connection, businessId }, wanted, currentWriter());
      if (!other) return { kind: "begun" };
      const { writer: holder, state } = other;
      const how = state === "begun" ? "is being corrected" : "is corrected";
      const resume = state === "begun" ? " To go on with that one, start it again as it was." : "";
      const message = `The sale ${other.invoice} ${how} by ${other.correctedBy}, with the credit note ${other.creditNote} (${holder.workflowId}, run ${holder.runId}). Nothing was done.${resume}`;
      return { kind: "taken", message };
    },

    endCorrection: ({ connection, businessId, invoice, stage }) =>
      corrections.end({ connection, businessId }, invoice, stage, currentWriter()),
  } satisfies Partial<LedgerActivities>;
}
