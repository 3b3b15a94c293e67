import type { CallTarget, Item } from "../../src/contract/index.ts";
import { type ClassifiedCall } from "../classified-call.ts";
import { type ActivityContext, ask } from "./calls.ts";

/** A catalogue that is shared has no answer of its own; it is as good as the one that it came from. */
const SHARED_ANSWER = {
  operation: "listItems",
  status: 200,
  replayed: false,
  requestSentAtMs: 0,
  answeredAtMs: 0,
} as const;

/**
 * The business's items as asked for since the given instant (Unix milliseconds).
 * @throws ApplicationFailure where Temporal is to repeat the activity
 */
export function readCatalogue(
  context: ActivityContext,
  target: CallTarget,
  sinceMs: number,
): Promise<ClassifiedCall<Item[]>> {
  return ask(context, target, "listItems", async ({ catalogue }) => ({
    data: await catalogue.since(target.businessId, sinceMs),
    meta: SHARED_ANSWER,
  }));
}
