import proto from "@temporalio/proto";
import { describe, expect, test } from "vitest";

import { isCovered, type QueryCheck, RunTurns } from "./query-guard.ts";

const { WorkflowActivation } = proto.coresdk.workflow_activation;
type Activation = Parameters<RunTurns["note"]>[0];
type HistoryEvent = Parameters<typeof isCovered>[1][number];

const START = { initializeWorkflow: { workflowId: "sale/1" } };
const RESOLVED = { resolveActivity: { seq: 1 } };
const EVICTED = { removeFromCache: {} };
const LONE_QUERY = { queryWorkflow: { queryId: "legacy_query", queryType: "state" } };
const ATTACHED_QUERY = { queryWorkflow: { queryId: "of-a-task", queryType: "state" } };

/** As Core sends it, through its encoding. */
function activation(jobs: object[], historyLength: number, isReplaying = false): Activation {
  return WorkflowActivation.decode(
    WorkflowActivation.encode({ runId: "run-1", historyLength, isReplaying, jobs }).finish(),
  );
}

describe("the records of a cached run's workflow tasks", () => {
  test("answer a query of an unknown run without a check", () => {
    expect(new RunTurns(10).note(activation([LONE_QUERY], 5, true))).toBeUndefined();
  });

  test("answer a query after a replay alone without a check", () => {
    const turns = new RunTurns(10);
    expect(turns.note(activation([START], 3, true))).toBeUndefined();
    expect(turns.note(activation([LONE_QUERY], 3, true))).toBeUndefined();
  });

  test("check a query that brought events beyond the last turn", () => {
    const turns = new RunTurns(10);
    turns.note(activation([START], 3, true));
    expect(turns.note(activation([LONE_QUERY], 6, true))).toEqual({
      runId: "run-1",
      workflowId: "sale/1",
      lastTurn: 3,
      lastTurnIsNew: false,
      wasSeenBefore: false,
      given: 6,
    });
  });

  test("check a query after a turn with new events, until a check has confirmed it", () => {
    const turns = new RunTurns(10);
    turns.note(activation([START], 3));
    turns.note(activation([RESOLVED], 9));
    const check = turns.note(activation([LONE_QUERY], 10, true));
    expect(check).toMatchObject({ lastTurn: 9, lastTurnIsNew: true, given: 10 });
    if (check) turns.confirm(check);
    expect(turns.note(activation([LONE_QUERY], 10, true))).toBeUndefined();
    turns.note(activation([RESOLVED], 15));
    expect(turns.note(activation([LONE_QUERY], 15, true))).toMatchObject({ lastTurn: 15, lastTurnIsNew: true });
  });

  test("answer a query that is attached to a workflow task without a check", () => {
    const turns = new RunTurns(10);
    turns.note(activation([START], 3));
    expect(turns.note(activation([ATTACHED_QUERY], 3, true))).toBeUndefined();
  });

  test("forget a run that left the cache, except its last event", () => {
    const turns = new RunTurns(10);
    turns.note(activation([START], 9));
    turns.note(activation([EVICTED], 9));
    expect(turns.note(activation([LONE_QUERY], 9, true))).toBeUndefined();
    turns.note(activation([START], 9));
    expect(turns.note(activation([LONE_QUERY], 9, true))).toMatchObject({ wasSeenBefore: true });
    turns.note(activation([RESOLVED], 14));
    expect(turns.note(activation([LONE_QUERY], 14, true))).toMatchObject({ wasSeenBefore: false });
  });

  test("remember a bounded number of runs that left the cache", () => {
    const turns = new RunTurns(1);
    const of = (runId: string, jobs: object[]): Activation => ({ ...activation(jobs, 9), runId });
    for (const runId of ["run-1", "run-2"]) {
      turns.note(of(runId, [START]));
      turns.note(of(runId, [EVICTED]));
    }
    for (const runId of ["run-1", "run-2"]) turns.note(of(runId, [START]));
    expect(turns.note(of("run-1", [LONE_QUERY]))).toMatchObject({ wasSeenBefore: false });
    expect(turns.note(of("run-2", [LONE_QUERY]))).toMatchObject({ wasSeenBefore: true });
  });
});

const OURS = "this worker";
const CHECK: QueryCheck = {
  runId: "run-1",
  workflowId: "sale/1",
  lastTurn: 9,
  lastTurnIsNew: true,
  wasSeenBefore: false,
  given: 11,
};

function event(id: number, more: HistoryEvent = {}): HistoryEvent {
  return { eventId: id, ...more } as unknown as HistoryEvent;
}
const started = (id: number) => event(id, { workflowTaskStartedEventAttributes: {} });
const completed = (id: number, identity = OURS) => event(id, { workflowTaskCompletedEventAttributes: { identity } });
const failed = (id: number) => event(id, { workflowTaskFailedEventAttributes: {} });

function read(check: Partial<QueryCheck>, events: HistoryEvent[]): boolean {
  return isCovered({ ...CHECK, ...check }, events, OURS);
}

describe("the history behind a query", () => {
  test("covers a last turn whose workflow task this worker completed", () => {
    expect(read({}, [event(11), completed(10), started(9)])).toBe(true);
  });

  test("does not cover a last turn that is not among the events", () => {
    expect(read({}, [event(12), event(11), completed(10)])).toBe(false);
    expect(read({}, [])).toBe(false);
  });

  test.each([
    ["another worker completed its task", [event(11), completed(10, "another worker"), started(9)]],
    ["its task failed", [event(11), failed(10), started(9)]],
    ["its task is still under way", [started(9)]],
    ["it is no workflow task: a query brought those events", [started(10), event(9)]],
    ["its task left no trace", [event(8)]],
  ])("does not cover a last turn where %s", (_why, events) => {
    expect(read({}, events)).toBe(false);
  });

  test("does not cover a task that an earlier copy of the run may have completed", () => {
    expect(read({ wasSeenBefore: true }, [event(11), completed(10), started(9)])).toBe(false);
  });

  test.each([
    ["terminated", "workflowExecutionTerminatedEventAttributes"],
    ["timed out", "workflowExecutionTimedOutEventAttributes"],
    ["failed", "workflowExecutionFailedEventAttributes"],
    ["completed", "workflowExecutionCompletedEventAttributes"],
  ])("of a run that %s is answered only by a cached copy that was made from it", (_how, attributes) => {
    const end = event(11, { [attributes]: {} });
    expect(read({}, [end, event(10), started(9)])).toBe(false);
    expect(read({ wasSeenBefore: true }, [end, event(10), started(9)])).toBe(true);
  });

  test("covers a replayed last turn, but no task after it that is not completed", () => {
    const replayed = { lastTurnIsNew: false };
    expect(read(replayed, [event(11), completed(10, "another worker"), started(9)])).toBe(true);
    expect(read({ ...replayed, given: 13 }, [started(13), event(12), event(11), completed(10), started(9)])).toBe(
      false,
    );
    // What has happened since is not in the run.
    expect(read(replayed, [started(13), event(12), event(11), completed(10), started(9)])).toBe(true);
    expect(read(replayed, [event(8)])).toBe(true);
  });
});
