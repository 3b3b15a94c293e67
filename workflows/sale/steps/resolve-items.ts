import {
  type Branch,
  fewOf,
  type KnownItem,
  type ResolvedLine,
  resolvedLines,
  type SaleLineInput,
} from "../../../src/contract/index.ts";
import { answered } from "../../calls/tries.ts";
import { CancelledByPerson, park } from "../../operator/park.ts";
import type { Work } from "../state.ts";

/** Both names of the branch, so that each call can send the one that its dialect wants; none means the business's first branch. */
export async function resolveBranch(work: Work, branch: string | undefined): Promise<Branch | undefined> {
  if (branch === undefined) return undefined;
  const { run, calls, target } = work;
  const result = await answered(run, () => calls.read.readBranch({ ...target, branch }));
  return result.branch;
}

export interface ResolvedLines {
  lines: ResolvedLine[];
  items: KnownItem[];
}

/**
 * Finds the item that each line names: in the catalogue of the process that prepared the sale, which costs no call, else through the API. A
 * line that names none, or two, waits until the catalogue is right.
 */
export async function resolveItems(
  work: Work,
  lines: SaleLineInput[],
  known: KnownItem[] | undefined,
): Promise<ResolvedLines> {
  const { run, calls, target } = work;
  if (known) return resolved(lines, known);
  let notOlderThanMs: number | undefined;
  for (;;) {
    const request = { ...target, lines, notOlderThanMs };
    const result = await answered(run, () => calls.read.readItems(request));
    if (result.kind === "resolved") return resolved(lines, result.items);
    const message = fewOf(result.unknown.map(({ line, reason }) => `lines[${line}]: ${reason}`)).join("; ");
    const sinceMs = Date.now();
    const verdict = await park(
      run,
      { code: "item-unknown", message },
      {
        wake: async () => (await calls.wait.awaitItems({ ...request, until: "known", sinceMs })).kind === "resolved",
      },
    );
    if (verdict === "cancel") throw new CancelledByPerson(run.cancelRequested ?? "");
    notOlderThanMs = verdict === "retry" ? Date.now() : undefined;
  }
}

function resolved(lines: SaleLineInput[], items: KnownItem[]): ResolvedLines {
  return { items, lines: resolvedLines(lines, items) };
}
