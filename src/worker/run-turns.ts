import type { coresdk, temporal } from "@temporalio/proto";

type Activation = coresdk.workflow_activation.IWorkflowActivation;
type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** How the SDK's Core calls a query that came on its own, and not with a workflow task. */
const LONE_QUERY_ID = "legacy_query";

/** What has to be read in the history before a query may be answered from a cached run. Event ids, counted from 1. */
export interface QueryCheck {
  readonly runId: string;
  readonly workflowId: string;
  /** The last event of the run's last turn. */
  readonly lastTurn: number;
  /** That turn went beyond what the SDK had replayed: a workflow task, or newer events that came with a query. */
  readonly lastTurnIsNew: boolean;
  /** An earlier copy of this run, since removed from the cache, had come as far as that turn. */
  readonly wasSeenBefore: boolean;
  /** The last event that the run has been given, whether or not the workflow had to act upon it. */
  readonly given: number;
}

interface CachedRun {
  readonly workflowId: string;
  /** How far an earlier copy of the run had come. */
  readonly seenBefore: number;
  lastTurn: number;
  lastTurnIsNew: boolean;
}

/**
 * Keeps for each cached run how far it has come, from the activations that the SDK's Core hands out. A query that
 * Temporal dispatches on its own brings the history as it is when a worker takes it, so the run may act upon events
 * that no completed workflow task covers; the cached run then differs from any replay (docs/decisions, "What the SDK
 * needs").
 */
export class RunTurns {
  readonly #cached = new Map<string, CachedRun>();
  /** Oldest first. */
  readonly #evicted = new Map<string, number>();
  readonly #mostEvicted: number;

  /** @param mostEvicted how many runs that left the cache are remembered */
  constructor(mostEvicted: number) {
    this.#mostEvicted = mostEvicted;
  }

  /** Notes an activation. Returns what has to be checked first where it is a query that cannot be answered as it is. */
  note(activation: Activation): QueryCheck | undefined {
    const runId = activation.runId ?? "";
    const jobs = activation.jobs ?? [];
    const started = jobs.find((job) => job.initializeWorkflow)?.initializeWorkflow;
    if (started) this.#add(runId, started.workflowId ?? "");
    const run = this.#cached.get(runId);
    if (!run) return undefined;
    const given = Number(activation.historyLength ?? 0);
    if (jobs.length > 0 && jobs.every((job) => job.queryWorkflow)) {
      if (jobs[0]?.queryWorkflow?.queryId !== LONE_QUERY_ID) return undefined;
      return checkOf(runId, run, given);
    }
    if (jobs.some((job) => !job.removeFromCache)) {
      run.lastTurn = given;
      run.lastTurnIsNew = activation.isReplaying !== true;
    }
    if (jobs.some((job) => job.removeFromCache)) this.#evict(runId, run);
    return undefined;
  }

  /** After a check that succeeded: what the run has been given is covered by completed workflow tasks. */
  confirm(check: QueryCheck): void {
    const run = this.#cached.get(check.runId);
    if (!run) return;
    run.lastTurn = check.given;
    run.lastTurnIsNew = false;
  }

  #add(runId: string, workflowId: string): void {
    const seenBefore = this.#evicted.get(runId) ?? 0;
    this.#cached.set(runId, { workflowId, seenBefore, lastTurn: 0, lastTurnIsNew: false });
  }

  #evict(runId: string, { lastTurn, seenBefore }: CachedRun): void {
    this.#cached.delete(runId);
    this.#evicted.delete(runId);
    this.#evicted.set(runId, Math.max(lastTurn, seenBefore));
    const [oldest] = this.#evicted.keys();
    if (this.#evicted.size > this.#mostEvicted && oldest !== undefined) this.#evicted.delete(oldest);
  }
}

function checkOf(runId: string, run: CachedRun, given: number): QueryCheck | undefined {
  const { workflowId, lastTurn, lastTurnIsNew, seenBefore } = run;
  if (!lastTurnIsNew && given <= lastTurn) return undefined;
  return { runId, workflowId, lastTurn, lastTurnIsNew, wasSeenBefore: lastTurn <= seenBefore, given };
}

/** Reads a history backwards, page by page, until it says whether a run may answer. */
export class HistoryReading {
  readonly #check: QueryCheck;
  readonly #identity: string;
  /** The event after the one that is looked at. */
  #later: HistoryEvent | undefined;
  #isClosed = false;

  /** @param identity that of the worker that has the run in its cache */
  constructor(check: QueryCheck, identity: string) {
    this.#check = check;
    this.#identity = identity;
  }

  /**
   * @param events of the history, the newest first, going on from those read before
   * @returns whether everything the run has been given belongs to completed workflow tasks, the last turn to one that
   * this worker completed itself; undefined where older events are needed. A run that is closed has no further tasks
   * that a copy could spoil: one that was made from the history alone answers, also beyond the last completed task.
   */
  read(events: readonly HistoryEvent[]): boolean | undefined {
    if (!this.#later) this.#isClosed = isClosing(events[0]);
    const covered = this.#readCovered(events);
    return covered === false ? this.#isClosed && this.#check.wasSeenBefore : covered;
  }

  #readCovered(events: readonly HistoryEvent[]): boolean | undefined {
    const { lastTurn, lastTurnIsNew, wasSeenBefore, given } = this.#check;
    for (const event of events) {
      const id = Number(event.eventId ?? 0);
      const later = this.#later;
      this.#later = event;
      // A number that the history has skipped: the task of that turn left no trace, as one whose update was refused.
      if (id < lastTurn) return !lastTurnIsNew;
      const completed = later?.workflowTaskCompletedEventAttributes;
      const startsTask =
        event.workflowTaskStartedEventAttributes !== undefined && event.workflowTaskStartedEventAttributes !== null;
      if (id === lastTurn)
        return !lastTurnIsNew || (startsTask && !wasSeenBefore && completed?.identity === this.#identity);
      if (id <= given && startsTask && !completed) return false;
    }
    return undefined;
  }
}

function isClosing(newest: HistoryEvent | undefined): boolean {
  return Boolean(
    newest?.workflowExecutionTerminatedEventAttributes ??
    newest?.workflowExecutionTimedOutEventAttributes ??
    newest?.workflowExecutionFailedEventAttributes ??
    newest?.workflowExecutionCanceledEventAttributes ??
    newest?.workflowExecutionCompletedEventAttributes,
  );
}
