import type { Connection } from "@temporalio/client";

import { fault, type Finding, ok, warning } from "./finding.ts";
import { measureOrdering, type OrderingShares } from "./measure-ordering.ts";

const CHECK = "priority and fairness";
/** Between these a mean place says nothing. */
const ORDERED_BELOW = 0.47;
const UNORDERED_ABOVE = 0.57;
const ATTEMPTS = 3;

type Verdict = "yes" | "no" | "unclear";

export interface OrderingVerdict {
  priority: Verdict;
  fairness: Verdict;
}

/** What the places say. Without priority the server knows no fairness either. */
export function judgeOrdering({ urgent, smallTenants }: OrderingShares): OrderingVerdict {
  return { priority: verdict(urgent), fairness: verdict(smallTenants) };
}

/** Whether the server serves waiting work by priority and fairness, or by arrival only. */
export async function checkOrdering(connection: Connection, namespace: string): Promise<Finding> {
  try {
    let judged: OrderingVerdict = { priority: "unclear", fairness: "unclear" };
    for (let attempt = 0; attempt < ATTEMPTS && isUnclear(judged); attempt += 1) {
      judged = judgeOrdering(await measureOrdering(connection, namespace));
    }
    return describeOrdering(judged);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return warning(CHECK, `cannot be told: the experiment on a queue of its own failed (${reason})`);
  }
}

export function describeOrdering({ priority, fairness }: OrderingVerdict): Finding {
  const flags = [
    ...(priority === "no" ? ["matching.useNewMatcher"] : []),
    ...(fairness === "no" ? ["matching.enableFairness"] : []),
  ];
  const advice = `set ${flags.join(" and ")} to true in the server's dynamic configuration (Temporal Cloud: enable them for the namespace). Where they are set for named queues only, the experiment's queue does not show it`;
  if (priority === "no") {
    return fault(CHECK, "the server serves by arrival only: a till waits behind every batch", advice);
  }
  if (fairness === "no") {
    return fault(CHECK, "the server orders by priority, but one busy business holds up all others", advice);
  }
  if (isUnclear({ priority, fairness })) {
    return warning(
      CHECK,
      "cannot be told: the experiment gave no clear answer",
      "run doctor again when less is going on",
    );
  }
  return ok(CHECK, "the server orders by both (tried on a queue of its own)");
}

function isUnclear({ priority, fairness }: OrderingVerdict): boolean {
  return priority === "unclear" || fairness === "unclear";
}

function verdict(share: number): Verdict {
  if (share < ORDERED_BELOW) return "yes";
  return share > UNORDERED_ABOVE ? "no" : "unclear";
}
