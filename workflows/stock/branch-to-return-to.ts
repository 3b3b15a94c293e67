import type { Branch } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { answerOf, isRefusal } from "../run/answered.ts";
import { Refusals } from "../run/refusals.ts";

/**
 * The branch to which goods are returned, by either of its names. One that is not there is a matter of the stock: it waits for a person
 * without holding back the document, and a person can give the return up.
 * @param subject what the attention is about
 * @returns undefined where a person gave it up
 */
export async function branchToReturnTo(
  { run, calls, target }: Work,
  name: string,
  subject: string,
): Promise<Branch | undefined> {
  const refusals = new Refusals(run);
  try {
    for (;;) {
      const result = await answerOf(calls.read.readBranch({ ...target, branch: name }));
      if (!isRefusal(result)) return result.branch;
      const isMissing = result.attention === "not-found";
      const message = `Not returned to stock: ${result.message}`;
      const about = isMissing ? ({ code: "stock-refused", subject, message } as const) : {};
      const verdict = await refusals.parkAbout(result, about);
      if (isMissing && verdict === "acknowledged") return undefined;
    }
  } finally {
    refusals.over();
  }
}
