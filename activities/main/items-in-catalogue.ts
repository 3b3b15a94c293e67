import type { ItemsRequest, ItemsResult } from "../../src/contract/index.ts";
import { resolveLines } from "../compliance/resolve-lines.ts";
import type { ActivityContext } from "../compliance/runtime.ts";

type Resolved = Extract<ItemsResult, { kind: "resolved" }>;

export type ItemsInCatalogue = ReturnType<typeof createItemsInCatalogue>;

/** What the process's own catalogue knows: the items of all lines, or nothing. It costs no call. */
export function createItemsInCatalogue(context: Pick<ActivityContext, "connections" | "nowMs">) {
  return ({ connection, businessId, lines, notOlderThanMs }: ItemsRequest): Resolved | undefined => {
    const runtime = context.connections.get(connection);
    const sinceMs = notOlderThanMs ?? context.nowMs() - (runtime?.catalogueAgeMs ?? 0);
    const items = runtime?.catalogue.known(businessId, sinceMs);
    const result = items && resolveLines(lines, items, runtime?.catalogue.leftOut(businessId));
    return result?.kind === "resolved" ? result : undefined;
  };
}
