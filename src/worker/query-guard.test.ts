import { noopMetricMeter } from "@temporalio/common";
import proto from "@temporalio/proto";
import { beforeEach, describe, expect, test } from "vitest";

import { QUERY_REFUSED } from "../contract/index.ts";
import { type CorePolls, corePollsOf, QueryGuard, type QueryGuardOptions } from "./query-guard.ts";

const { WorkflowActivation } = proto.coresdk.workflow_activation;
const { WorkflowActivationCompletion } = proto.coresdk.workflow_completion;
type HistoryEvents = Awaited<ReturnType<QueryGuardOptions["readHistory"]>>;

const START = { initializeWorkflow: { workflowId: "sale/1" } };
const LONE_QUERY = { queryWorkflow: { queryId: "legacy_query", queryType: "state" } };
const EVICTED = { removeFromCache: {} };
const OURS = "this worker";
const SHUT_DOWN = new Error("the worker is shut down");

const COVERED = events([
  { eventId: 10, workflowTaskCompletedEventAttributes: { identity: OURS } },
  { eventId: 9, workflowTaskStartedEventAttributes: {} },
]);
const UNCOVERED = events([{ eventId: 9, workflowTaskStartedEventAttributes: {} }]);

describe("the query guard", () => {
  let activations: Settled<Buffer>[];
  let polled: number;
  let completions: proto.coresdk.workflow_completion.WorkflowActivationCompletion[];
  let refusing: () => Promise<void>;
  let reads: Settled<HistoryEvents>[];
  let logged: string[];
  let core: CorePolls;
  beforeEach(() => {
    activations = [];
    polled = 0;
    completions = [];
    refusing = () => Promise.resolve();
    reads = [];
    logged = [];
    core = {
      pollWorkflowActivation: () => {
        polled += 1;
        return nth(activations, polled - 1).promise;
      },
      completeWorkflowActivation: (completion) => {
        completions.push(WorkflowActivationCompletion.decodeDelimited(new Uint8Array(completion)));
        return refusing();
      },
    };
    new QueryGuard(core, {
      identity: OURS,
      cachedRuns: 10,
      meter: noopMetricMeter,
      log: { warn: (message) => logged.push(message) },
      readHistory: () => {
        const answer = settled<HistoryEvents>();
        reads.push(answer);
        return answer.promise;
      },
    });
  });

  /** What Core hands out next. */
  function hand(jobs: object[], historyLength: number, runId = "run-1"): Buffer {
    const buffer = Buffer.from(WorkflowActivation.encode({ runId, historyLength, jobs }).finish());
    nth(activations, handed).resolve(buffer);
    handed += 1;
    return buffer;
  }
  let handed = 0;
  beforeEach(() => void (handed = 0));

  /** A run whose last turn was a workflow task, and a query of it. */
  async function asked(): Promise<{ query: Buffer; next: Promise<Buffer> }> {
    hand([START], 9);
    await core.pollWorkflowActivation();
    const query = hand([LONE_QUERY], 9);
    const next = core.pollWorkflowActivation();
    await expect.poll(() => reads.length).toBe(1);
    return { query, next };
  }

  test("passes a query on once the history has confirmed its run, and then does not read the history again", async () => {
    const { query, next } = await asked();
    nth(reads, 0).resolve(COVERED);
    expect(await next).toBe(query);
    const again = hand([LONE_QUERY], 9);
    expect(await core.pollWorkflowActivation()).toBe(again);
    expect(reads).toHaveLength(1);
    expect(completions).toEqual([]);
  });

  test("does not hold up other runs while a query is checked", async () => {
    const { query, next } = await asked();
    const other = hand([START], 3, "run-2");
    expect(await next).toBe(other);
    const then = core.pollWorkflowActivation();
    nth(reads, 0).resolve(COVERED);
    expect(await then).toBe(query);
    expect(polled).toBe(4);
  });

  test("refuses a query that the history does not cover, with the error that callers know, and goes on", async () => {
    const { next } = await asked();
    nth(reads, 0).resolve(UNCOVERED);
    await expect.poll(() => completions.length).toBe(1);
    expect(nth(completions, 0)).toMatchObject({ runId: "run-1", failed: { failure: { message: QUERY_REFUSED } } });
    const eviction = hand([EVICTED], 9);
    expect(await next).toBe(eviction);
  });

  test("refuses where the history cannot be read", async () => {
    await asked();
    nth(reads, 0).reject(new Error("the server is away"));
    await expect.poll(() => completions.length).toBe(1);
  });

  test("answers a query whose check is under way when the worker shuts down, and ends after it", async () => {
    const { query, next } = await asked();
    // Core ends its polls once every activation is answered, so not before.
    nth(reads, 0).resolve(COVERED);
    expect(await next).toBe(query);
    const last = core.pollWorkflowActivation();
    nth(activations, 2).reject(SHUT_DOWN);
    await expect(last).rejects.toBe(SHUT_DOWN);
  });

  test("refuses a query whose check is under way when the worker shuts down, and ends after it", async () => {
    const { next } = await asked();
    nth(reads, 0).resolve(UNCOVERED);
    await expect.poll(() => completions.length).toBe(1);
    nth(activations, 2).reject(SHUT_DOWN);
    await expect(next).rejects.toBe(SHUT_DOWN);
  });

  test("confirms nothing of a run that has left the cache meanwhile", async () => {
    const { query, next } = await asked();
    const eviction = hand([EVICTED], 9);
    expect(await next).toBe(eviction);
    nth(reads, 0).resolve(COVERED);
    expect(await core.pollWorkflowActivation()).toBe(query);
  });

  test("ends the worker where a query cannot even be refused, since Core waits for the answer", async () => {
    const { next } = await asked();
    const trouble = new Error("Core is gone");
    refusing = () => Promise.reject(trouble);
    nth(reads, 0).resolve(UNCOVERED);
    await expect(next).rejects.toBe(trouble);
    expect(logged).toHaveLength(1);
  });
});

test("a worker with an SDK that cannot be guarded is refused", () => {
  expect(() => corePollsOf({ nativeWorker: { pollWorkflowActivation() {} } })).toThrow(
    /nativeWorker\.completeWorkflowActivation.*the version that package\.json pins/s,
  );
  expect(() => corePollsOf({})).toThrow(/cannot be guarded/);
});

interface Settled<T> {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: Error) => void;
}

function settled<T>(): Settled<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}

/** The nth of a list; of those still to come, one to be settled. */
function nth<T>(list: T[], index: number): T {
  while (list.length <= index) list.push(settled() as T);
  return list[index] as T;
}

function events(some: object[]): HistoryEvents {
  return some as HistoryEvents;
}
