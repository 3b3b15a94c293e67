import { isGrpcServiceError, type WorkflowClient } from "@temporalio/client";
import { tsToMs } from "@temporalio/common/lib/time.js";

import type { Deferred } from "../../src/contract/index.ts";
import { type Ledger, LedgerError, LedgerUnavailableError } from "../../src/ledger/index.ts";
import { findingsOf } from "./findings.ts";
import { importFindings } from "./import-findings.ts";
import { readableHistory } from "./readable-history.ts";

/** PERMISSION_DENIED, UNIMPLEMENTED. */
const NOT_FOR_US = [7, 12];

/** How many runs this process remembers to have looked after: it is asked once for each call of a run. */
const REMEMBERED = 10_000;

/**
 * For each request to Temporal: one that was lost with a server would be waited for by every later attempt of the run.
 * Short, since the start of a new sale waits for it and goes on without an answer.
 */
const LONGEST_REQUEST_MS = 3_000;

interface Execution {
  workflowId: string;
  runId: string;
}

/**
 * What earlier runs of a workflow's id did cannot be read from Temporal now. Nothing unrepeatable may be sent before it
 * can.
 */
export class EarlierRunsUnreadError extends Error {
  override readonly name = "EarlierRunsUnreadError";

  constructor(workflowId: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Whether ${workflowId} had earlier runs, and what they did, cannot be read from Temporal now: ${reason}`, {
      cause,
    });
  }
}

/**
 * What earlier runs of a workflow's id did, before a reset, or before a second start around the starter. It is read out
 * of their histories and written into the claims, so that the run which follows takes over their documents, movements
 * and decisions (docs/architecture.md, "One document for a number"). The claims know most of it already; a history
 * speaks where the ledger was away, or new, or lost.
 */
export class EarlierRuns {
  readonly #workflows: WorkflowClient;
  readonly #ledger: Ledger;
  readonly #done = new Map<string, Promise<boolean>>();

  constructor(workflows: WorkflowClient, ledger: Ledger) {
    this.#workflows = workflows;
    this.#ledger = ledger;
  }

  /**
   * To be waited for before a run writes anything. Costs one look at Temporal's list of runs, once for each run and
   * process.
   * @returns whether there were any
   * @throws EarlierRunsUnreadError; LedgerUnavailableError where there is something to be written down
   */
  async takeOver(execution: Execution | undefined): Promise<boolean> {
    if (!execution) return false;
    const known = this.#done.get(execution.runId);
    if (known) return await known;
    const doing = this.#takeOver(execution);
    this.#remember(execution.runId, doing);
    try {
      return await doing;
    } catch (error) {
      this.#done.delete(execution.runId);
      if (error instanceof LedgerUnavailableError || error instanceof LedgerError) throw error;
      throw new EarlierRunsUnreadError(execution.workflowId, error);
    }
  }

  async #takeOver({ workflowId, runId }: Execution): Promise<boolean> {
    const earlier = await this.#inTime(() => this.#earlierThan({ workflowId, runId }));
    for (const run of earlier) {
      const history = await this.#inTime(() => this.#workflows.getHandle(workflowId, run.runId).fetchHistory());
      const events = await readableHistory(history, this.#workflows.options.loadedDataConverter);
      await importFindings(this.#ledger, findingsOf(events), `${workflowId} (run ${run.runId})`);
    }
    return earlier.length > 0;
  }

  #inTime<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    return this.#workflows.withDeadline(Date.now() + LONGEST_REQUEST_MS, ask);
  }

  /** The oldest first. A server that cannot list, or does not let us, leaves the claims alone to know. */
  async #earlierThan({ workflowId, runId }: Execution): Promise<{ runId: string }[]> {
    const earlier: { runId: string; startMs: number }[] = [];
    const query = `WorkflowId = "${workflowId.replace(/["\\]/g, "\\$&")}"`;
    const { workflowService, options } = this.#workflows;
    let nextPageToken: Uint8Array = new Uint8Array();
    try {
      do {
        // Not the client's own list, which fails upon a memo that it cannot read, whoever wrote it.
        const page = await workflowService.listWorkflowExecutions({
          namespace: options.namespace,
          query,
          nextPageToken,
        });
        for (const { execution, startTime } of page.executions) {
          const found = execution?.runId ?? "";
          if (found !== runId) earlier.push({ runId: found, startMs: startTime ? tsToMs(startTime) : 0 });
        }
        nextPageToken = page.nextPageToken;
      } while (nextPageToken.length > 0);
    } catch (error) {
      if (!isGrpcServiceError(error) || !NOT_FOR_US.includes(Number(error.code))) throw error;
      return [];
    }
    return earlier.sort((a, b) => a.startMs - b.startMs);
  }

  #remember(runId: string, doing: Promise<boolean>): void {
    // Whoever waits hears of a failure; nobody has to.
    doing.catch(() => undefined);
    this.#done.set(runId, doing);
    const [oldest] = this.#done.keys();
    if (this.#done.size > REMEMBERED && oldest !== undefined) this.#done.delete(oldest);
  }
}

/** @returns what `claim` gives; `deferred` where it cannot be had now */
export async function claimOrDeferred<Claimed>(claim: () => Promise<Claimed>): Promise<Claimed | Deferred> {
  try {
    return await claim();
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return { kind: "deferred", waitFor: "ledger", message: error.message };
    if (error instanceof EarlierRunsUnreadError) return { kind: "deferred", message: error.message };
    throw error;
  }
}
