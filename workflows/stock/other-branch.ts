import { condition } from "@temporalio/workflow";

import type { BranchHold, Decision, OtherBranch, StockMovement } from "../../src/contract/index.ts";
import { park, type Verdict } from "../operator/attention-list.ts";
import { ledger, mainWaits } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";

const ACKNOWLEDGE = "Let movements to named branches go on";

/**
 * Shows that an applied movement was answered with another branch than the one that was asked for. Once an operator has
 * acknowledged it, the ledger lets movements to named branches go on; the run ends only when that is written.
 */
export function showOtherBranch(
  { run, target }: SaleContext,
  { referenceId }: StockMovement,
  otherBranch: OtherBranch,
): void {
  const { asked, answered, message } = otherBranch;
  const evidence = { askedBranch: asked, answeredBranch: answered };
  // A retry would move the goods twice.
  const resolvedBy = ["acknowledge"] as const;
  const key = run.raise({ code: "unexpected-answer", subject: referenceId, message, evidence, resolvedBy });
  const written = async (): Promise<void> => {
    await condition(() => !run.needs(key));
    const { note = "", by, atMs = Date.now() } = run.decisions.findLast((one) => one.subject === referenceId) ?? {};
    await ledger.acknowledgeBranch(ACKNOWLEDGE, { ...target, referenceId, otherBranch, word: { note, by, atMs } });
  };
  run.beforeTheEnd(written());
}

/**
 * Waits until movements to named branches are sent again, or until an operator gives this one up. The run that found
 * the other branch may be closed, so nobody can acknowledge it there: here a `retry` with a note says that somebody has
 * checked the branch.
 */
export async function parkOnBranch(
  { run, target }: SaleContext,
  { referenceId, action, quantity, itemId }: StockMovement,
  held: { message: string; hold: BranchHold },
  until: () => boolean,
): Promise<Verdict> {
  const message = `${action} ${quantity} of ${itemId} was not sent. ${held.message}`;
  const sinceMs = Date.now();
  const summary = "Wait until movements to named branches are sent again: each attempt is one look";
  const wake = (): Promise<boolean> => mainWaits.awaitBranch(summary, { ...target, sinceMs }).then(() => true);
  const decisionsBefore = run.decisions.length;
  const verdict = await park(run, { code: "stock-refused", subject: referenceId, message }, { until, wake });
  const decisions = run.decisions.slice(decisionsBefore);
  const isAboutIt = ({ update, subject }: Decision): boolean => update === "retry" && subject === referenceId;
  const checked = decisions.findLast((one) => isAboutIt(one) && one.note !== "");
  if (verdict === "retry" && checked) {
    const { note, by, atMs } = checked;
    const { referenceId: finder, businessId, ...otherBranch } = held.hold;
    const word = { note, by, atMs };
    await ledger.acknowledgeBranch(ACKNOWLEDGE, { ...target, businessId, referenceId: finder, otherBranch, word });
  }
  return verdict;
}
