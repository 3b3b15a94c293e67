import { condition, continueAsNew, workflowInfo } from "@temporalio/workflow";

import {
  type Branch,
  noOutcomes,
  type PreparedRegisterItems,
  type RegisterItemsInput,
  type RegisterItemsOutcome,
  type RegistrationProgress,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { callWithEscalation } from "../calls/between-tries.ts";
import { Job, registerJobMessages, runJobToCompletion } from "../job/job.ts";
import { callsOf, ledger, main } from "../proxies.ts";
import { resolveBranch } from "../sale/steps/items.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";
import { type Batch, count, type PlannedItem, registerAll } from "./register-all.ts";

/** So many are asked for between two looks at the catalogue, and written down together. */
const CHUNK = 50;

/** What a run hands to the next one. */
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
 * Registers a catalogue, or the items of a list, one call each: the next of them → register → write down what each came
 * to. Nothing waits for an item that lacks data: it is reported. To be run again at any time.
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

/** Registers them, and writes down what each came to. @returns those that are left to the next run */
async function registerAndKeep(batch: Batch, items: readonly PlannedItem[]): Promise<PlannedItem[]> {
  if (items.length === 0) return [];
  const { job, target, batchId } = batch;
  job.handsOverCalls = true;
  const { outcomes, unanswered } = await registerAll(batch, items);
  job.handsOverCalls = false;
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
