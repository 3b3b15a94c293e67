import type { Branch } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { answered } from "../run/answered.ts";

/** Both names of the branch, so that each call can send the one that its dialect wants; none means the business's first branch. */
export async function resolveBranch(work: Work, branch: string | undefined): Promise<Branch | undefined> {
  if (branch === undefined) return undefined;
  const { run, calls, target } = work;
  const result = await answered(run, () => calls.read.readBranch({ ...target, branch }));
  return result.branch;
}
