/**
 * The job `registerItems`: a catalogue, or the items of a list, registered with one call each. A sale registers by
 * itself what its lines need: in `workflows/sale/steps/items.ts`, from which this job takes how a branch and an item
 * are looked up.
 *
 * Stands on: `src/contract`, `workflows`, `workflows/calls`, `workflows/job`, `workflows/operator`, `workflows/sale`,
 * `workflows/sdk`.
 */
import { condition, continueAsNew, sleep, workflowInfo } from "@temporalio/workflow";

import {
  boundedSummary,
  type Branch,
  type CallTarget,
  ITEM_OUTCOMES,
  type ItemOutcome,
  type ItemOutcomeKind,
  noOutcomes,
  type PlanRegistrationsResult,
  type PreparedRegisterItems,
  type Refusal,
  type RegisterItemsInput,
  type RegisterItemsOutcome,
  type RegisterResult,
  type RegistrationProgress,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { BetweenTries, callWithEscalation, isRefusal, LeftToNextRun } from "../calls/between-tries.ts";
import { Job, registerJobMessages, runJobToCompletion, sideBySide } from "../job/job.ts";
import { park } from "../operator/attention-list.ts";
import { type Calls, callsOf, growingPauseMs, ledger, main } from "../proxies.ts";
import { lackingData, resolveBranch, showsRegistered } from "../sale/steps/items.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";

/** So many are asked for between two looks at the catalogue, and written down together. */
const CHUNK = 50;

interface Carried {
  prepared: PreparedRegisterItems;
  branch: Branch | undefined;
  progress: RegistrationProgress;
  position: Position;
  /** The catalogue is read as of then. */
  startedAtMs: number;
  /** An operator has decided that what the API refuses as malformed is to be passed over. */
  passesOver: boolean;
  /** Items that were planned before the position, and have no outcome yet. */
  unanswered: PlannedItem[];
  /** An operator's `retry` may be what they are called for next. */
  retriedAtMs?: number | undefined;
}

/** Of the whole catalogue the last id that was looked at; of named items how many. `null`: through. */
type Position = { after: string } | { index: number } | null;

/**
 * Registers a catalogue, or the items of a list, one call each. Nothing waits for an item that lacks data: it is
 * reported.
 */
export async function registerItems(input: RegisterItemsInput, carried?: Carried): Promise<RegisterItemsOutcome> {
  const job = new Job<RegistrationProgress>({
    workflow: WORKFLOW_TYPES.registerItems,
    noun: "The registration",
    progress: carried?.progress ?? { total: null, counts: noOutcomes() },
    describe: describeProgress,
  });
  job.retriedAtMs = carried?.retriedAtMs;
  registerJobMessages(job);
  return await runJobToCompletion(async () => {
    const prepared =
      carried?.prepared ?? (await main.prepareRegisterItems("Check the request and find the connection", { input }));
    const startedAtMs = carried?.startedAtMs ?? workflowInfo().startTime.getTime();
    const { connection, businessId } = prepared.profile;
    const { workflowId, firstExecutionRunId } = workflowInfo();
    job.businessId = businessId;
    job.moveOn("its turn");
    const { background: calls } = callsOf(job, prepared.profile);
    const batch: Batch = {
      job,
      calls,
      target: { connection, businessId },
      batchId: `${workflowId} ${firstExecutionRunId}`,
      force: input?.force === true,
      branch: carried?.branch,
      passesOver: carried?.passesOver ?? false,
    };
    if (!carried && input?.branch !== undefined) {
      job.moveOn("the names of its branch");
      batch.branch = await resolveBranch({ run: job, calls, target: batch.target }, input.branch);
    }
    const names = input?.items && [...new Set(input.items)];
    let position: Position = carried ? carried.position : names ? { index: 0 } : { after: "" };
    let unanswered = await registerAndKeep(batch, carried?.unanswered ?? []);
    for (;;) {
      if (unanswered.length > 0 || (position !== null && job.dueBetweenPages)) {
        await condition(everyUpdateIsAnswered);
        const { branch, passesOver } = batch;
        const { progress, retriedAtMs } = job;
        const next = { prepared, branch, progress, position, startedAtMs, passesOver, unanswered, retriedAtMs };
        await continueAsNew<typeof registerItems>(input, next);
      }
      if (position === null) break;
      ({ position, unanswered } = await nextChunk(batch, position, names, startedAtMs));
    }
    const { target, batchId } = batch;
    const report = await ledger.reportRegistrations("Count what came of the items", { ...target, batchId });
    job.moveOn("nothing", { counts: report.counts });
    return report;
  });
}

async function nextChunk(
  batch: Batch,
  position: Exclude<Position, null>,
  names: string[] | undefined,
  startedAtMs: number,
): Promise<{ position: Position; unanswered: PlannedItem[] }> {
  const { job, calls, target, batchId, force } = batch;
  const part =
    "after" in position
      ? { after: position.after }
      : { items: (names ?? []).slice(position.index, position.index + CHUNK) };
  job.moveOn("the next items of the catalogue");
  const request = { ...target, ...part, batchId, most: CHUNK, force, notOlderThanMs: startedAtMs };
  const plan = await callWithEscalation(job, () =>
    calls.read.planRegistrations("Find the next items to register", request),
  );
  count(batch, plan.settled, names?.length ?? plan.total);
  const unanswered = await registerAndKeep(batch, plan.items);
  if ("after" in position) return { position: plan.next === null ? null : { after: plan.next }, unanswered };
  const index = position.index + CHUNK;
  return { position: index < (names?.length ?? 0) ? { index } : null, unanswered };
}

/** @returns those that are left to the next run */
async function registerAndKeep(batch: Batch, items: readonly PlannedItem[]): Promise<PlannedItem[]> {
  if (items.length === 0) return [];
  const { job, target, batchId } = batch;
  const outcomes: ItemOutcome[] = [];
  const registerNext = async (item: PlannedItem): Promise<void> => {
    const outcome = await registerOne(batch, item);
    outcomes.push(outcome);
    count(batch, { [outcome.kind]: 1 });
  };
  job.moveOn("the registration of items");
  const unanswered = await sideBySide(job, items, registerNext, LANES);
  const kept = { ...target, batchId, outcomes };
  if (outcomes.length > 0) await ledger.keepRegistrations("Keep what came of the items", kept);
  return unanswered;
}

function describeProgress({ total, counts }: RegistrationProgress): string[] {
  const done = Object.values(counts).reduce((sum, one) => sum + one, 0);
  const of = total === null ? "" : ` of ${total}`;
  const kinds = Object.entries(counts).flatMap(([kind, many]) => (many > 0 ? [`${kind}: ${many}`] : []));
  return [`${done}${of} items done`, ...kinds];
}

const LANES = 8;

/** An answer that says nothing is asked for again so often; then the item is reported as unclear. */
const MOST_TRIES = 5;

interface Batch {
  job: Job<RegistrationProgress>;
  calls: Calls["background"];
  target: CallTarget;
  batchId: string;
  force: boolean;
  branch: Branch | undefined;
  passesOver: boolean;
}

type PlannedItem = Extract<PlanRegistrationsResult, { kind: "planned" }>["items"][number];

function count(
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

/** What a refusal means for the item; undefined if it is worth another try. */
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
