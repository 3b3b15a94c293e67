import { type Branch, goodsOf, type SaleDocument } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { answered } from "../run/answered.ts";
import { registerItems, unregistered } from "./register-items.ts";

/**
 * After a rejection: an item that shows as not registered is registered. True where there was one that this sale has not mended before,
 * so that a list which lags behind cannot keep the document going round.
 */
export async function mendItems(
  work: Work,
  document: SaleDocument,
  branch: Branch | undefined,
  mendedBefore: Set<string>,
): Promise<boolean> {
  const { run, calls, target } = work;
  const lines = goodsOf(document).map(({ itemId }) => ({ itemId, quantity: 1, unitPrice: 0 }));
  const notOlderThanMs = Date.now();
  const read = await answered(run, () => calls.read.readItems({ ...target, lines, notOlderThanMs }));
  if (read.kind !== "resolved") return false;
  const missing = unregistered(read.items).filter((item) => !mendedBefore.has(item.id));
  if (missing.length === 0) return false;
  await registerItems(work, missing, branch);
  for (const item of missing) mendedBefore.add(item.id);
  return true;
}
