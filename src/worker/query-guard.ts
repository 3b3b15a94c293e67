import type { MetricMeter } from "@temporalio/common";
import proto from "@temporalio/proto";
import type { coresdk, temporal } from "@temporalio/proto";
import type { NativeConnection, Worker } from "@temporalio/worker";

import { QUERY_REFUSED } from "../contract/index.ts";
import type { KeyLog } from "./watches.ts";

const { WorkflowActivation } = proto.coresdk.workflow_activation;
const { WorkflowActivationCompletion } = proto.coresdk.workflow_completion;

/** What has happened since the run's last workflow task: one of the product writes far fewer events. */
const EVENTS_READ = 200;
/** Workflow tasks of the run wait for its check, and have ten seconds. */
const CHECK_WITHIN_MS = 2_000;

/** What a worker exchanges with the SDK's Core about its workflows. Not public: the SDK is pinned for it. */
export interface CorePolls {
  pollWorkflowActivation: () => Promise<Buffer>;
  completeWorkflowActivation: (completion: Buffer) => Promise<void>;
}

export interface QueryGuardOptions {
  /**
   * The worker's: the server writes it to each workflow task that the worker completes. No other worker may have the
   * same.
   */
  identity: string;
  /** As many runs as the cache holds. */
  cachedRuns: number;
  meter: MetricMeter;
  log: Pick<KeyLog, "warn">;
  /** The end of a run's history, the newest events first. */
  readHistory: (check: QueryCheck) => Promise<readonly HistoryEvent[]>;
}

/**
 * Puts a {@link QueryGuard} in front of a worker that has not been run yet.
 * @throws Error where this version of the SDK does not let it
 */
export function guardQueries(
  worker: Worker,
  connection: NativeConnection,
  options: Omit<QueryGuardOptions, "readHistory" | "identity"> & { namespace: string },
): void {
  const { namespace } = options;
  const readHistory: QueryGuardOptions["readHistory"] = ({ workflowId, runId }) =>
    connection.withDeadline(Date.now() + CHECK_WITHIN_MS, async () => {
      const asked = { namespace, execution: { workflowId, runId }, maximumPageSize: EVENTS_READ };
      const { history } = await connection.workflowService.getWorkflowExecutionHistoryReverse(asked);
      return history?.events ?? [];
    });
  new QueryGuard(corePollsOf(worker), { ...options, identity: worker.options.identity, readHistory });
}

/** @throws Error that says what is missing */
export function corePollsOf(worker: object): CorePolls {
  const native: unknown = "nativeWorker" in worker ? worker.nativeWorker : undefined;
  if (isCorePolls(native)) return native;
  throw new Error(
    "This version of @temporalio/worker cannot be guarded against queries that make a history impossible to replay: expected" +
      " nativeWorker.pollWorkflowActivation and nativeWorker.completeWorkflowActivation. Install the version that package.json pins.",
  );
}

function isCorePolls(native: unknown): native is CorePolls {
  if (typeof native !== "object" || native === null) return false;
  return (["pollWorkflowActivation", "completeWorkflowActivation"] as const).every(
    (name) => name in native && typeof (native as Partial<CorePolls>)[name] === "function",
  );
}

/**
 * Stands between Core and the SDK and looks at each query before the workflow does (docs/decisions, "Workarounds for
 * the SDK", A). A query whose run may hold more than completed workflow tasks cover is refused; one that is asked again
 * gets the answer. Where the activations do not tell that the run is covered, the newest events of its history may;
 * other runs go on meanwhile.
 */
export class QueryGuard {
  readonly #options: QueryGuardOptions;
  readonly #turns: RunTurns;
  readonly #poll: CorePolls["pollWorkflowActivation"];
  readonly #complete: CorePolls["completeWorkflowActivation"];
  readonly #checks;
  readonly #refusals;
  /** What the SDK gets next: activations, or the error that ends its polling. */
  readonly #ready: (() => Buffer)[] = [];
  #wake: (() => void) | undefined;
  #polling = false;

  /** @param core is changed: from now on its polls go through the guard */
  constructor(core: CorePolls, options: QueryGuardOptions) {
    const { meter, cachedRuns } = options;
    this.#options = options;
    this.#turns = new RunTurns(cachedRuns);
    this.#poll = core.pollWorkflowActivation;
    this.#complete = core.completeWorkflowActivation;
    this.#checks = meter.createCounter("fiscalflow_query_checks", undefined, "queries checked against the history");
    this.#refusals = meter.createCounter("fiscalflow_query_refusals", undefined, "queries refused, to be asked again");
    // What has not happened yet is 0, so that the first time is an increase.
    this.#checks.add(0);
    this.#refusals.add(0);
    core.pollWorkflowActivation = () => this.#next();
  }

  async #next(): Promise<Buffer> {
    for (;;) {
      const take = this.#ready.shift();
      if (take) return take();
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      if (!this.#polling) void this.#pollCore();
      await woken;
    }
  }

  /** One poll at a time, as the SDK has it. It outlives the call that began it where a checked query is ready first. */
  async #pollCore(): Promise<void> {
    this.#polling = true;
    try {
      const buffer = await this.#poll();
      const check = this.#turns.note(WorkflowActivation.decode(new Uint8Array(buffer)));
      if (check) void this.#decide(buffer, check);
      else this.#ready.push(() => buffer);
    } catch (error) {
      this.#endWith(error);
    } finally {
      this.#polling = false;
    }
    this.#wakeUp();
  }

  /**
   * Core waits for the answer of each activation, also when it shuts down or wants the run out of its cache. So there
   * always is one.
   */
  async #decide(buffer: Buffer, check: QueryCheck): Promise<void> {
    this.#checks.add(1);
    if (await this.#isCovered(check)) {
      this.#turns.confirm(check);
      this.#ready.push(() => buffer);
    } else {
      this.#refusals.add(1);
      await this.#refuse(check);
    }
    this.#wakeUp();
  }

  async #isCovered(check: QueryCheck): Promise<boolean> {
    try {
      return isCovered(check, await this.#options.readHistory(check), this.#options.identity);
    } catch {
      return false;
    }
  }

  async #refuse({ runId, workflowId }: QueryCheck): Promise<void> {
    const failure = { message: QUERY_REFUSED, applicationFailureInfo: { type: "QueryRefused", nonRetryable: false } };
    const completion = WorkflowActivationCompletion.encodeDelimited({ runId, failed: { failure } }).finish();
    try {
      await this.#complete(Buffer.from(completion));
    } catch (error) {
      this.#options.log.warn("a query could not be refused; the worker ends", { workflowId, runId, error });
      // As the SDK does with its own completions: Core would wait for this one for ever.
      this.#endWith(error);
    }
  }

  #endWith(error: unknown): void {
    this.#ready.push(() => {
      throw error;
    });
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

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

/** How far each cached run has come, from the activations that Core hands out. */
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

/**
 * Whether a run may answer: everything that it has been given belongs to completed workflow tasks, the last turn to one
 * that this worker completed itself. A run that is closed has no further tasks that a copy could spoil: one that was
 * made from the history alone answers, also beyond the last completed task.
 * @param events the end of the run's history, the newest first
 * @param identity that of the worker that has the run in its cache
 */
export function isCovered(check: QueryCheck, events: readonly HistoryEvent[], identity: string): boolean {
  const { lastTurn, lastTurnIsNew, wasSeenBefore, given } = check;
  if (wasSeenBefore && isClosing(events[0])) return true;
  /** The event after the one that is looked at. */
  let later: HistoryEvent | undefined;
  for (const event of events) {
    const id = Number(event.eventId ?? 0);
    // A number that the history has skipped: the task of that turn left no trace, as one whose update was refused.
    if (id < lastTurn) return !lastTurnIsNew;
    const completed = later?.workflowTaskCompletedEventAttributes;
    const startsTask = Boolean(event.workflowTaskStartedEventAttributes);
    if (id === lastTurn) return !lastTurnIsNew || (startsTask && !wasSeenBefore && completed?.identity === identity);
    if (id <= given && startsTask && !completed) return false;
    later = event;
  }
  return false;
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
