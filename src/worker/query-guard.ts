import type { MetricMeter } from "@temporalio/common";
import proto from "@temporalio/proto";
import type { NativeConnection, Worker } from "@temporalio/worker";

import { QUERY_REFUSED } from "../contract/index.ts";
import { HistoryReading, type QueryCheck, RunTurns } from "./run-turns.ts";
import type { KeyLog } from "./watch-keys.ts";

const { WorkflowActivation } = proto.coresdk.workflow_activation;
const { WorkflowActivationCompletion } = proto.coresdk.workflow_completion;

/** Nearly always enough: what has happened since the run's last workflow task. */
const FIRST_PAGE = 30;
const LATER_PAGES = 1_000;
/** One workflow task of the product writes far fewer events than these hold. */
const MOST_PAGES = 4;
/** Workflow tasks of the run wait for its check, and have ten seconds. */
const CHECK_WITHIN_MS = 2_000;

/** What a worker exchanges with the SDK's Core about its workflows. Not public: the SDK is pinned for it. */
export interface CorePolls {
  pollWorkflowActivation: () => Promise<Buffer>;
  completeWorkflowActivation: (completion: Buffer) => Promise<void>;
}

type HistoryPage = Awaited<ReturnType<NativeConnection["workflowService"]["getWorkflowExecutionHistoryReverse"]>>;

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
  /** A page of a run's history, the newest events first. */
  readHistory: (check: QueryCheck, page: { size: number; token: Uint8Array }, withinMs: number) => Promise<HistoryPage>;
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
  const readHistory: QueryGuardOptions["readHistory"] = ({ workflowId, runId }, { size, token }, withinMs) =>
    connection.withDeadline(Date.now() + withinMs, () =>
      connection.workflowService.getWorkflowExecutionHistoryReverse({
        namespace,
        execution: { workflowId, runId },
        maximumPageSize: size,
        nextPageToken: token,
      }),
    );
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
 * Stands between Core and the SDK and looks at each query before the workflow does. A query whose run may hold more
 * than completed workflow tasks cover is refused, upon which Core removes the run from its cache; nothing is written to
 * the history, and whoever asks again gets the answer. Other runs go on meanwhile. Where the activations do not tell
 * that the run is covered, the newest events of its history do: one small read as a rule, and a refusal after 2 s or
 * some 3,000 events. Refusals are counted by `reason`: `uncovered`, `too-long`, `unread`.
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
    const reason = await this.#reasonToRefuse(check);
    if (reason === undefined) {
      this.#turns.confirm(check);
      this.#ready.push(() => buffer);
    } else {
      this.#refusals.add(1, { reason });
      await this.#refuse(check);
    }
    this.#wakeUp();
  }

  async #reasonToRefuse(check: QueryCheck): Promise<"uncovered" | "too-long" | "unread" | undefined> {
    const deadlineMs = Date.now() + CHECK_WITHIN_MS;
    const reading = new HistoryReading(check, this.#options.identity);
    let token: Uint8Array = new Uint8Array();
    try {
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const size = page === 0 ? FIRST_PAGE : LATER_PAGES;
        const answer = await this.#options.readHistory(check, { size, token }, deadlineMs - Date.now());
        const covered = reading.read(answer.history?.events ?? []);
        if (covered !== undefined) return covered ? undefined : "uncovered";
        if (!answer.nextPageToken?.length) return "uncovered";
        token = answer.nextPageToken;
      }
      return "too-long";
    } catch {
      return "unread";
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
