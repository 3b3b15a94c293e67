import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  defaultPayloadConverter,
  type WorkflowExecutionDescription,
  WorkflowUpdateFailedError,
  WorkflowNotFoundError,
} from "@temporalio/client";

import { SIGNALS, UPDATES } from "../../../src/contract/index.ts";
import { decoded } from "../../../src/payloads/decoded.ts";
import { Chance } from "../plan/chance.ts";
import { type Button, givesUpCreditNote, ODD_PAYLOADS, ODD_RESULTS } from "../plan/button-plan.ts";
import type { FaultStack } from "../stack/fault-stack.ts";
import { askUntilAnswered } from "./ask-until-answered.ts";
import { type OpenWorkflow, openWorkflows } from "./open-workflows.ts";

export interface ButtonsRecord {
  readonly pressed: Readonly<Record<string, number>>;
  /** By workflow id: what was pressed on it. */
  readonly touched: ReadonlyMap<string, ReadonlySet<Button>>;
  /** The movements that were completed by hand with a well-formed result: a person's decision, right or wrong. */
  readonly decidedByHand: ReadonlySet<string>;
  /** Runs that ended otherwise than completed, and were carried on by a restart. */
  readonly restarted: readonly { readonly workflowId: string; readonly status: string }[];
}

const LOOK_MS = 50;
const RPC_MS = 8_000;
/** A paused activity is a decision that somebody takes back. */
const LONGEST_PAUSE_MS = 4_000;
const BATCH_OF = 3;
const IDENTITY = "fault suite's operator";

interface Activity {
  readonly workflowId: string;
  readonly runId: string;
  readonly id: string;
  readonly type: string;
}

/**
 * Somebody who presses every button that Temporal's UI and command line have, at random stages of random sales, and
 * carries on with `sale restart` what has ended by it.
 */
export class Buttons {
  readonly #left: Button[];
  readonly #planned: number;
  readonly #chance: Chance;
  readonly #pressed: Record<string, number> = {};
  readonly #touched = new Map<string, Set<Button>>();
  readonly #decidedByHand = new Set<string>();
  readonly #restarted: { workflowId: string; status: string }[] = [];
  readonly #paused = new Set<Promise<void>>();
  readonly #restarting = new Set<string>();
  /** Runs that ended, and that another run of their id has followed. */
  readonly #carriedOn = new Set<string>();
  readonly problems: string[] = [];

  constructor(presses: readonly Button[], seed: number) {
    this.#left = [...presses];
    this.#planned = presses.length;
    this.#chance = new Chance(seed, "presses");
  }

  get left(): number {
    return this.#left.length;
  }

  get record(): ButtonsRecord {
    const [pressed, touched] = [this.#pressed, this.#touched];
    return { pressed, touched, decidedByHand: this.#decidedByHand, restarted: this.#restarted };
  }

  isTouched(workflowId: string): boolean {
    return this.#touched.has(workflowId);
  }

  /** @param share of the sales that have been started: the presses keep in step with them */
  async run(stack: FaultStack, share: () => number, signal: AbortSignal): Promise<void> {
    while (this.#left.length > 0 && !signal.aborted) {
      const done = 1 - this.#left.length / Math.max(1, this.#planned);
      if (done > share() || !stack.temporal.running) {
        await delay(LOOK_MS);
        continue;
      }
      const [button] = this.#left;
      if (button === undefined) break;
      const isPressed = await this.#press(stack, button, signal).catch((error: unknown) => {
        // The server was killed, the run or the activity has ended meanwhile: the next one.
        if (isOrdinary(error)) return false;
        this.problems.push(`${button}: ${error instanceof Error ? error.message : String(error)}`);
        return true;
      });
      if (isPressed) {
        this.#left.shift();
        this.#pressed[button] = (this.#pressed[button] ?? 0) + 1;
      } else {
        this.#left.push(...this.#left.splice(0, 1));
        await delay(LOOK_MS);
      }
      await this.restartEnded(stack, signal);
    }
    await Promise.all(this.#paused);
  }

  /** Carries on what has ended by a button, each beside the others. Returns how many are still to be carried on. */
  async restartEnded(stack: FaultStack, signal: AbortSignal): Promise<number> {
    const { client } = stack;
    const ended = new Map<string, string>();
    await askUntilAnswered(client, signal, async () => {
      const query = "ExecutionStatus = 'Terminated' or ExecutionStatus = 'Failed' or ExecutionStatus = 'TimedOut'";
      for await (const { workflowId, runId } of client.workflow.list({ query }))
        if (this.isTouched(workflowId) && !this.#carriedOn.has(runId)) ended.set(runId, workflowId);
    });
    for (const [endedRunId, workflowId] of ended) {
      if (this.#restarting.has(workflowId)) continue;
      const { status, runId } = await askUntilAnswered(client, signal, () =>
        client.workflow.getHandle(workflowId).describe(),
      );
      if (runId !== endedRunId) {
        this.#carriedOn.add(endedRunId);
        continue;
      }
      this.#restarting.add(workflowId);
      void this.#restart(stack, workflowId, status.name).finally(() => this.#restarting.delete(workflowId));
    }
    return this.#restarting.size;
  }

  async #restart({ starter }: FaultStack, workflowId: string, status: string): Promise<void> {
    try {
      const { result } = await starter.restart({ workflowId }, { note: "ended by mistake" });
      if (result === "restarted") this.#restarted.push({ workflowId, status });
    } catch (error) {
      // Nobody answered, or somebody was faster: looked at again.
      if (!isOrdinary(error))
        this.problems.push(`restart of ${workflowId}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /**
   * A sale whose credit note was given up by a button stays completed, and open for another refund, which nobody asks
   * for: ends its refund window. Returns how many it ended.
   */
  async closeWindows({ client }: FaultStack, open: readonly OpenWorkflow[], signal: AbortSignal): Promise<number> {
    const left = open.filter(
      ({ stage, workflowId }) => stage === "completed" && givesUpCreditNote(this.#touched.get(workflowId)),
    );
    for (const { workflowId } of left) {
      this.#touch(workflowId, "workflow cancel");
      await askUntilAnswered(client, signal, () => client.workflow.getHandle(workflowId).cancel()).catch(
        () => undefined,
      );
    }
    return left.length;
  }

  /** False: there is nothing on which it can be pressed now. */
  async #press(stack: FaultStack, button: Button, signal: AbortSignal): Promise<boolean> {
    const { client } = stack;
    return await client.withDeadline(Date.now() + RPC_MS, async () => {
      const open = this.#chance.shuffled(await openWorkflows(client)).filter(({ type }) => type === "sale");
      if (button.startsWith("activity ")) return await this.#pressOnActivity(stack, button, open, signal);
      if (button.startsWith("batch ")) return await this.#pressOnBatch(stack, button, open.slice(0, BATCH_OF));
      if (button === "credit note cancel") return await this.#cancelCreditNote(stack, button, open);
      const [one] = open;
      return one ? await this.#pressOnWorkflow(stack, button, one) : false;
    });
  }

  async #cancelCreditNote({ client }: FaultStack, button: Button, open: readonly OpenWorkflow[]): Promise<boolean> {
    const one = open.find(({ stage }) => stage === "crediting");
    if (!one) return false;
    const { workflowId } = one;
    try {
      const args: [object] = [{ reason: "by mistake", by: IDENTITY }];
      await client.workflow.getHandle(workflowId).executeUpdate<unknown, [object]>(UPDATES.cancel, { args });
    } catch (error) {
      // It was signed before.
      if (error instanceof WorkflowUpdateFailedError) return false;
      this.#touch(workflowId, button);
      throw error;
    }
    this.#touch(workflowId, button);
    return true;
  }

  async #pressOnWorkflow({ client }: FaultStack, button: Button, { workflowId }: OpenWorkflow): Promise<boolean> {
    const handle = client.workflow.getHandle(workflowId);
    const description = await handle.describe();
    if (description.status.name !== "RUNNING") return false;
    const execution = { workflowId, runId: description.runId };
    const { workflowService } = client;
    const common = { namespace: "default", workflowExecution: execution, identity: IDENTITY };
    this.#touch(workflowId, button);
    switch (button) {
      case "workflow reset": {
        const events = (await client.workflow.getHandle(workflowId, description.runId).fetchHistory()).events ?? [];
        const ends = events.filter((event) => event.workflowTaskCompletedEventAttributes);
        if (ends.length === 0) return false;
        const { eventId } = this.#chance.pick(ends);
        const reason = "a button of Temporal's UI";
        await workflowService.resetWorkflowExecution({
          ...common,
          reason,
          workflowTaskFinishEventId: eventId,
          requestId: randomUUID(),
        });
        break;
      }
      case "workflow terminate":
        await client.workflow.getHandle(workflowId, description.runId).terminate("a button of Temporal's UI");
        break;
      case "workflow cancel":
        await handle.cancel();
        break;
      case "workflow signal":
        await workflowService.signalWorkflowExecution({ ...common, ...this.#oddSignal(), requestId: randomUUID() });
        break;
      default: {
        const name = this.#chance.pick([...Object.values(UPDATES), "nobodyKnows"]);
        await workflowService
          .updateWorkflowExecution({
            ...common,
            waitPolicy: { lifecycleStage: 2 },
            request: {
              meta: { updateId: randomUUID(), identity: IDENTITY },
              input: { name, args: { payloads: [...this.#chance.pick(ODD_PAYLOADS)] } },
            },
          })
          // Refused: as it has to be.
          .catch(() => undefined);
      }
    }
    return true;
  }

  async #pressOnActivity(
    { client }: FaultStack,
    button: Button,
    open: readonly OpenWorkflow[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const activity = await this.#somePending(client, open);
    if (!activity) return false;
    const { workflowId, runId, id, type } = activity;
    const { workflowService } = client;
    const namespace = "default";
    const target = { namespace, execution: { workflowId, runId }, id, identity: IDENTITY };
    const byId = { namespace, workflowId, runId, activityId: id, identity: IDENTITY };
    this.#touch(workflowId, button);
    switch (button) {
      case "activity pause": {
        const pausing = workflowService.pauseActivity({ ...target, reason: "a button of Temporal's UI" });
        const unpause = async (): Promise<void> => {
          // Taken back also if its answer was lost with the server: it may have been heard.
          await pausing.catch(() => undefined);
          await delay(this.#chance.whole(200, LONGEST_PAUSE_MS));
          const resetAttempts = this.#chance.happens(0.5);
          await askUntilAnswered(client, signal, () =>
            workflowService.unpauseActivity({ ...target, resetAttempts }),
          ).catch(() => undefined);
        };
        const unpaused = unpause().finally(() => this.#paused.delete(unpaused));
        this.#paused.add(unpaused);
        await pausing;
        break;
      }
      case "activity reset":
        await workflowService.resetActivity({ ...target, keepPaused: false });
        break;
      case "activity update-options":
        await workflowService.updateActivityOptions({ ...target, ...this.#someOptions() });
        break;
      case "activity fail":
        await workflowService.respondActivityTaskFailedById({
          ...byId,
          failure: { message: "by mistake", source: "CLI", applicationFailureInfo: { nonRetryable: true } },
        });
        break;
      default: {
        const isDecision = type === "adjustStock" && this.#chance.happens(0.3);
        const { referenceId = "" } = isDecision ? await inputOf(client, activity) : {};
        const byHand = { kind: "applied", movementId: `by-hand-${randomUUID()}`, sentAtMs: Date.now() };
        const result = referenceId === "" ? this.#chance.pick(ODD_RESULTS) : byHand;
        if (referenceId !== "") this.#decidedByHand.add(referenceId);
        const payloads = [defaultPayloadConverter.toPayload(result)];
        await workflowService.respondActivityTaskCompletedById({ ...byId, result: { payloads } });
      }
    }
    return true;
  }

  async #pressOnBatch({ client }: FaultStack, button: Button, open: readonly OpenWorkflow[]): Promise<boolean> {
    if (open.length === 0) return false;
    for (const { workflowId } of open) this.#touch(workflowId, button);
    const identity = IDENTITY;
    const operation = {
      "batch signal": () => {
        const { signalName, input } = this.#oddSignal();
        return { signalOperation: { signal: signalName, input, identity } };
      },
      "batch reset": () => {
        const options = this.#chance.pick([{ firstWorkflowTask: {} }, { lastWorkflowTask: {} }]);
        return { resetOperation: { options, identity } };
      },
      "batch terminate": () => ({ terminationOperation: { identity } }),
      "batch cancel": () => ({ cancellationOperation: { identity } }),
    }[button as "batch signal" | "batch reset" | "batch terminate" | "batch cancel"]();
    await client.workflowService.startBatchOperation({
      namespace: "default",
      jobId: randomUUID(),
      reason: "a button of Temporal's UI",
      executions: open.map(({ workflowId }) => ({ workflowId })),
      ...operation,
    });
    return true;
  }

  async #somePending(client: FaultStack["client"], open: readonly OpenWorkflow[]): Promise<Activity | undefined> {
    for (const { workflowId } of open.slice(0, 8)) {
      const { runId, status, raw }: WorkflowExecutionDescription = await client.workflow
        .getHandle(workflowId)
        .describe();
      if (status.name !== "RUNNING") continue;
      const [one] = this.#chance.shuffled(raw.pendingActivities ?? []);
      if (one) return { workflowId, runId, id: one.activityId ?? "", type: one.activityType?.name ?? "" };
    }
    return undefined;
  }

  #someOptions(): object {
    const soon = { seconds: this.#chance.whole(1, 3) };
    return this.#chance.pick([
      {
        activityOptions: { retryPolicy: { maximumAttempts: this.#chance.pick([1, 2, 5]) } },
        updateMask: { paths: ["retry_policy.maximum_attempts"] },
      },
      {
        activityOptions: { scheduleToCloseTimeout: soon },
        updateMask: { paths: ["schedule_to_close_timeout"] },
      },
    ]);
  }

  #oddSignal() {
    const signalName = this.#chance.pick([SIGNALS.callbackReceived, SIGNALS.refundRequested, "nobodyKnows"]);
    return { signalName, input: { payloads: [...this.#chance.pick(ODD_PAYLOADS)] } };
  }

  #touch(workflowId: string, button: Button): void {
    this.#touched.set(workflowId, (this.#touched.get(workflowId) ?? new Set()).add(button));
  }
}

async function inputOf(client: FaultStack["client"], { workflowId, runId, id }: Activity) {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const scheduled = events?.find((event) => event.activityTaskScheduledEventAttributes?.activityId === id);
  const [payload] = await decoded(client, scheduled?.activityTaskScheduledEventAttributes?.input?.payloads ?? []);
  return payload ? defaultPayloadConverter.fromPayload<{ referenceId?: string }>(payload) : {};
}

/** The server is away, or what was to be pressed on is gone: no fault of the product. */
function isOrdinary(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  const cause = error instanceof Error ? error.cause : undefined;
  const ORDINARY_CODES = new Set([
    1,
    3,
    4,
    5,
    9,
    14,
    "NotAllowed",
    "NoAnswer",
    "NoWorker",
    "TemporalUnavailable",
    "LedgerAway",
  ]);
  return ORDINARY_CODES.has(code as never) || (cause !== undefined && isOrdinary(cause));
}
