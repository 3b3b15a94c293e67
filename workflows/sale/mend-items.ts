import type { Branch, SaleDocument } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { answered } from "../run/answered.ts";
import { registerItems, unregistered } from "./register-items.ts";

/** After a rejection: an item that shows as not registered is registered. True where there was one. */
export async function mendItems(work: Work, document: SaleDocument, branch?: Branch): Promise<boolean> {
  const { run, calls, target } = work;
  const lines = document.lines.map(({ itemId }) => ({ itemId, quantity: 1, unitPrice: 0 }));
  const notOlderThanMs = Date.now();
  const read = await answered(run, () => calls.read.readItems({ ...target, lines, notOlderThanMs }));
  if (read.kind !== "resolved" || unregistered(read.items).length === 0) return false;
  await registerItems(work, read.items, branch);
  return true;
}
