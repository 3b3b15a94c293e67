import { condition } from "@temporalio/workflow";

import type { SaleDocument } from "../../src/contract/index.ts";
import { unlessCancelled } from "../run/unless-cancelled.ts";
import { park } from "../run/park.ts";
import { retryDocument } from "./retry-document.ts";
import type { Work } from "./work.ts";

/** Automatic resubmissions of one document so far; they are bounded for its whole life. */
export interface Resubmissions {
  made: number;
}

/**
 * What follows a rejection (architecture, "Flow of a sale"): where something was mended that the authority may have missed, at
 * once; else on a short, bounded, growing schedule, since the document may never have reached the authority; then a person says
 * `retry` or `cancel`.
 * @param mend tells whether it mended anything new
 * @throws CancelledByPerson
 */
export async function resubmit(
  work: Work,
  document: SaleDocument,
  resubmissions: Resubmissions,
  mend: () => Promise<boolean>,
): Promise<SaleDocument | "cancelled"> {
  const { run, profile } = work;
  const said = document.error ?? "no reason given";
  run.moveTo("rejected", "another look at the items");
  if (run.cancelDue) return "cancelled";
  const mended = await unlessCancelled(run, mend);
  if (run.cancelDue) return "cancelled";
  if (!mended) {
    const delayMs = profile.timings.resubmissionDelaysMs[resubmissions.made];
    if (delayMs === undefined) {
      run.moveTo("rejected", "a person: the authority said no, and the automatic resubmissions are used up");
      const verdict = await park(run, { code: "rejected", message: `The authority said: ${said}` });
      if (verdict === "cancel") return "cancelled";
    } else {
      resubmissions.made++;
      run.moveTo("rejected", `resubmission ${resubmissions.made}, in ${delayMs / 1000} s. The authority said: ${said}`);
      let broughtForward = false;
      run.bringForward = () => (broughtForward = true);
      await condition(() => run.cancelDue || broughtForward, delayMs);
      run.bringForward = undefined;
      if (run.cancelDue) return "cancelled";
    }
  }
  run.moveTo("awaiting-authority", "the answer to the resubmission");
  return await retryDocument(work, document);
}
