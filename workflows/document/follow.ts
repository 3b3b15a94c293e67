import type { SaleDocument } from "../../src/contract/index.ts";
import { awaitAuthority, type Wait } from "./await-authority.ts";
import { fateOf } from "./document-status.ts";
import { Refusals } from "../run/refusals.ts";
import { resubmit } from "./resubmit.ts";
import type { Work } from "./work.ts";

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
  const wait: Wait = { ...following, sinceMs: Date.now(), slowTold: false, refusals: new Refusals(run) };
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
