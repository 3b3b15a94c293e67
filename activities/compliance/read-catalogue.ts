import type { CallTarget, Item } from "../../src/contract/index.ts";
import { callAndClassifyAnswer, type ClassifiedCall, type ComplianceRuntime } from "./calls.ts";

/** A catalogue that is shared has no answer of its own; it is as good as the one that it came from. */
const SHARED_ANSWER = {
  operation: "listItems",
  status: 200,
  replayed: false,
  requestSentAtMs: 0,
  answeredAtMs: 0,
} as const;

/** The business's items as asked for since the given instant (Unix milliseconds). */
export function readCatalogue(
  runtime: ComplianceRuntime,
  target: CallTarget,
  sinceMs: number,
): Promise<ClassifiedCall<Item[]>> {
  return callAndClassifyAnswer(runtime, "listItems", target, async () => ({
    data: await runtime.catalogue.since(target.businessId, sinceMs),
    meta: SHARED_ANSWER,
  }));
}
