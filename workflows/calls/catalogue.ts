import {
  type Branch,
  type CallTarget,
  isRegistered,
  type ItemsResult,
  type KnownItem,
} from "../../src/contract/index.ts";
import type { AttentionList } from "../operator/attention-list.ts";
import type { Calls } from "../proxies.ts";
import { callWithEscalation } from "./between-tries.ts";

type Read = Pick<Calls["read"], "readBranch" | "readItems">;

/**
 * Both names of the branch, so that each call can send the one that its dialect wants; none means the business's first
 * branch.
 */
export async function resolveBranch(
  run: AttentionList,
  { readBranch }: Read,
  target: CallTarget,
  branch: string | undefined,
): Promise<Branch | undefined> {
  if (branch === undefined) return undefined;
  return (await callWithEscalation(run, () => readBranch({ ...target, branch }))).branch;
}

/** Whether the catalogue, read now, shows the item as registered. */
export async function showsRegistered(
  run: AttentionList,
  { readItems }: Read,
  target: CallTarget,
  itemId: string,
): Promise<boolean> {
  const request = { ...target, lines: [{ itemId, quantity: 1, unitPrice: 0 }], notOlderThanMs: Date.now() };
  return areRegistered(await callWithEscalation(run, () => readItems(request)));
}

export function areRegistered(result: ItemsResult): boolean {
  return result.kind === "resolved" && result.items.every(isRegistered);
}

/** The names of the data that the item lacks. */
export function lackingData({ needs }: Pick<KnownItem, "needs">): string[] {
  return Object.entries(needs ?? {}).flatMap(([name, lacks]) => (lacks ? [name] : []));
}
