import { Context } from "@temporalio/activity";

import type { CallTarget, RecordPart } from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { writerOf } from "./claim-results.ts";

/**
 * Saves the record that came with a call, as it is with the answer. Where the ledger does not take it the workflow saves
 * it: the answer must reach the workflow in any case.
 * @returns what to add to the answer
 */
export async function saveWithAnswer(
  { records }: Ledger,
  { connection, businessId }: CallTarget,
  record: RecordPart,
): Promise<{ recorded?: true }> {
  try {
    const kept = await records.saveDocument({ connection, businessId }, record, writerOf(Context.current().info));
    return kept === "saved" || kept === "unchanged" ? { recorded: true } : {};
  } catch {
    return {};
  }
}
