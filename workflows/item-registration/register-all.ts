import { sleep } from "@temporalio/workflow";

import {
  boundedSummary,
  type Branch,
  type CallTarget,
  ITEM_OUTCOMES,
  type ItemOutcome,
  type ItemOutcomeKind,
  type PlanRegistrationsResult,
  type Refusal,
  type RegisterResult,
  type RegistrationProgress,
} from "../../src/contract/index.ts";
import { BetweenTries, isRefusal, LeftToNextRun, undefinedIfLeft } from "../calls/between-tries.ts";
import { growingPauseMs } from "../calls/activity-failures.ts";
import type { Job } from "../job/job.ts";
import { park } from "../operator/attention-list.ts";
import type { Calls } from "../proxies.ts";
import { lackingData, showsRegistered } from "../sale/steps/items.ts";

/** Calls of one batch under way at once. */
const LANES = 8;

/** An answer that says nothing is asked for again so often; then the item is reported as unclear. */
const MOST_TRIES = 5;

/** What every step of a registration needs, and what it has come to so far. */
export interface Batch {
  job: Job<RegistrationProgress>;
  calls: Calls["background"];
  target: CallTarget;
  batchId: string;
  force: boolean;
  branch: Branch | undefined;
  /** An operator has decided that what the API refuses as malformed is to be passed over. */
  passesOver: boolean;
}

export type PlannedItem = Extract<PlanRegistrationsResult, { kind: "planned" }>["items"][number];

interface Registered {
  outcomes: ItemOutcome[];
  /** Left to the next run. */
  unanswered: PlannedItem[];
}

/** Registers each of the items, and says what each came to. */
export async function registerAll(batch: Batch, items: readonly PlannedItem[]): Promise<Registered> {
  const outcomes: ItemOutcome[] = [];
  const unanswered: PlannedItem[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let item = items[next++]; item; item = items[next++]) {
      const outcome = await registerOne(batch, item).catch(undefinedIfLeft);
      if (!outcome) {
        unanswered.push(item);
        continue;
      }
      outcomes.push(outcome);
      count(batch, { [outcome.kind]: 1 });
    }
  };
  batch.job.moveOn("the registration of items");
  await Promise.all(Array.from({ length: Math.min(LANES, items.length) }, lane));
  return { outcomes, unanswered };
}

/** @param total how many items the batch is about, once that is known */
export function count(
  { job }: Batch,
  settled: Partial<Record<ItemOutcomeKind, number>>,
  total: number | null = job.progress.total,
): void {
  const counts = { ...job.progress.counts };
  for (const kind of ITEM_OUTCOMES) counts[kind] += settled[kind] ?? 0;
  job.moveOn(job.waitingFor, { counts, total });
}

async function registerOne(batch: Batch, { id, name }: PlannedItem): Promise<ItemOutcome> {
  const { job, calls, target, branch, force } = batch;
  const item = { item: id, name };
  const betweenTries = new BetweenTries(job);
  for (let made = 1; ;) {
    const request = { ...target, itemId: id, branch, force: force || undefined };
    const result: RegisterResult = await calls.convergingWrite.registerItem(`Register ${name ?? id}`, request);
    if (isRefusal(result)) {
      const outcome = await afterRefusal(batch, item, result, betweenTries);
      if (outcome) return outcome;
      continue;
    }
    betweenTries.clearRefusal();
    switch (result.kind) {
      case "registered":
        return { kind: "registered", ...item };
      case "needs-data":
        return { kind: "needs-data", ...item, needs: lackingData(result.item) };
      case "converging": {
        // Whether a forced registration went through cannot be seen: the item was registered before.
        if (!force && (await showsRegistered({ run: job, calls, target }, id))) return { kind: "registered", ...item };
        if (made++ >= MOST_TRIES) return { kind: "unclear", ...item, reason: result.message };
        const summary = boundedSummary(`Register ${name ?? id} again after a pause`);
        await sleep(growingPauseMs(made), { summary });
      }
    }
  }
}

/** What a refusal means for the item; undefined where it is worth another try. */
async function afterRefusal(
  batch: Batch,
  item: Pick<ItemOutcome, "item" | "name">,
  refusal: Refusal,
  betweenTries: BetweenTries,
): Promise<ItemOutcome | undefined> {
  const { job } = batch;
  const { attention, message: reason } = refusal;
  if (attention !== "credentials") betweenTries.clearRefusal();
  switch (attention) {
    case "item-rejected":
      return { kind: "refused", ...item, reason };
    case "not-found":
      return { kind: "unknown", ...item, reason };
    case "invalid-request": {
      if (batch.passesOver) return { kind: "refused", ...item, reason };
      const evidence = { ...refusal.details, ...(refusal.apiCode !== undefined && { apiCode: refusal.apiCode }) };
      const verdict = await park(
        job,
        { code: attention, subject: item.item, message: reason, evidence, resolvedBy: ["retry", "acknowledge"] },
        // One word is enough for all that are refused alike.
        { until: () => batch.passesOver || job.waitsEnded },
      );
      if (verdict === "again" && job.waitsEnded) throw new LeftToNextRun();
      if (verdict === "retry" && job.endWaitsIfDue()) throw new LeftToNextRun();
      if (verdict === "acknowledged") batch.passesOver = true;
      return batch.passesOver ? { kind: "refused", ...item, reason } : undefined;
    }
    default:
      await betweenTries.waitAfterRefusal(refusal);
      return undefined;
  }
}
