import type {
  CallTarget,
  PurchasesPageResult,
  PurchasesPass,
  PurchasesProgress,
  PurchasesSync,
} from "../../src/contract/index.ts";
import type { Job } from "../job/job.ts";
import { withPage } from "../job/page-progress.ts";
import type { Calls } from "../proxies.ts";
import { callWithEscalation, isRefusal, Tries } from "../calls/tries.ts";
import { afterPage, afterPull, type Position, restarted } from "./position.ts";

export interface SyncWork {
  job: Job<PurchasesProgress>;
  calls: Calls["background"];
  target: CallTarget;
  sync: PurchasesSync;
  from: string | undefined;
}

const PASSES: Readonly<Record<PurchasesPass, string>> = {
  list: "a page of the list",
  pulled: "a page of what is `pulled`",
  pending_review: "a page of what is `pending_review`",
  changed: "a page of a day on which an invoice has changed",
};

/** Begins a pass anew so often without a person, where the service does not take its own cursor back. */
const MOST_RESTARTS = 3;

/** Has the service fetch the latest from the authority. What comes of it is seen in the list. */
export async function pull({ job, calls, target }: SyncWork, position: Position): Promise<Position> {
  job.moveOn("the service, which fetches the latest from the tax authority");
  await callWithEscalation(job, () => calls.read.pullPurchases(target));
  return afterPull(position);
}

/** Reads one page into the ledger. */
export async function readPage(work: SyncWork, position: Position, pass: PurchasesPass): Promise<Position> {
  const { job, calls, target, sync, from } = work;
  const { cursor } = position;
  const page = `${PASSES[pass]}${position.sweeps > 1 ? `, read for the ${position.sweeps}. time` : ""}`;
  job.moveOn(page);
  const days = position.windows?.[0] ?? { from };
  const request = { ...target, syncId: sync.syncId, pass, cursor, ...days };
  const tries = new Tries(job);
  for (;;) {
    const result = await calls.read.keepPurchasesPage(request);
    if (isRefusal(result)) {
      const cursorRefused = result.attention === "invalid-request" && cursor !== undefined;
      if (cursorRefused && position.restarts < MOST_RESTARTS) {
        tries.notRefused();
        return restarted(position);
      }
      await tries.refused(result);
      continue;
    }
    tries.notRefused();
    if (cursor !== undefined && isSamePage(position, result)) {
      const message =
        "The service answers a cursor with the page before it: it may not know the cursor's name. Set purchases.cursor of " +
        "COMPLIANCE_DIALECT to the service's name for it, then retry.";
      await tries.refused({ kind: "refused", attention: "unexpected-answer", message });
      continue;
    }
    job.progress = withPage(job.progress, result);
    return afterPage(position, sync.kind, result);
  }
}

/** The same rows once more, or the cursor that was sent: read on, they would come for ever. */
function isSamePage({ cursor, fingerprint }: Position, page: Extract<PurchasesPageResult, { kind: "page" }>): boolean {
  return page.nextCursor === cursor || (fingerprint !== undefined && page.fingerprint === fingerprint);
}
