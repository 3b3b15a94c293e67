import { condition } from "@temporalio/workflow";

import type { SaleDocument } from "../../src/contract/index.ts";
import { Tries } from "../calls/tries.ts";
import { park, unlessCancelled } from "../operator/park.ts";
import type { Work } from "../sale/state.ts";
import { awaitAuthority, type Wait } from "./await-authority.ts";
import { fateOf, retryDocument } from "./retry-document.ts";

export type FollowedTo = "completed" | "cancelled-by-service" | "cancelled-by-person";

export interface Following {
  callbackExpected: boolean;
  /** How many callbacks had come before the document was asked for. */
  callbacksSeen: number;
  mend: () => Promise<boolean>;
}

/** Sees an issued document through, from whatever status it has, to its end. `run.document` is always the latest of it. */
export async function follow(work: Work, issued: SaleDocument, following: Following): Promise<FollowedTo> {
  const { run } = work;
  const wait: Wait = { ...following, sinceMs: Date.now(), slowTold: false, tries: new Tries(run) };
  const resubmissions = { made: 0 };
  let document = issued;
  for (;;) {
    run.document = document;
    switch (fateOf(document)) {
      case "whole":
        return "completed";
      case "cancelled":
        return "cancelled-by-service";
      case "failed": {
        const next = await resubmit(work, document, resubmissions, following.mend);
        if (next === "cancelled") return "cancelled-by-person";
        document = next;
        wait.sinceMs = Date.now();
        wait.slowTold = false;
        break;
      }
      case "in-flight":
      case "strange":
      case "unsigned":
        run.moveTo(
          run.inFlightStage,
          wait.callbackExpected ? "the authority: a callback, or the next look" : "the authority: the next look",
        );
        document = await awaitAuthority(work, document, wait);
    }
  }
}

/** Automatic resubmissions of one document so far; they are bounded for its whole life. */
interface Resubmissions {
  made: number;
}

/**
 * What follows a rejection (architecture, "Flow of a sale"): where something was mended that the authority may have missed, at
 * once; else on a short, bounded, growing schedule, since the document may never have reached the authority; then a person says
 * `retry` or `cancel`.
 * @param mend tells whether it mended anything new
 * @throws CancelledByPerson
 */
async function resubmit(
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
