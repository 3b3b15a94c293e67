import {
  CancellationScope,
  ChildWorkflowFailure,
  condition,
  ParentClosePolicy,
  startChild,
  uuid4,
} from "@temporalio/workflow";

import {
  aboutWorkflow,
  type AdjustStockResult,
  keywordValue,
  type MoveStockInput,
  type MoveStockResult,
  moveStockWorkflowId,
  NO_BUSINESS,
  type StockMovement,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { businessAttribute, invoiceAttribute } from "../operator/updates.ts";
import type { SaleContext } from "../sale/state.ts";
import { rootMessage } from "../sdk/failures.ts";
import { endOfTurn } from "../sdk/interceptors.ts";
import {
  isSharedObstacle,
  MOST_AT_ONCE,
  type PendingTry,
  readOutcomeFromClaim,
  Semaphore,
  type Sender,
  sendMovement,
} from "./apply-movement.ts";

interface QueuedTry extends PendingTry {
  answer: (result: AdjustStockResult | undefined) => void;
  fail: (error: unknown) => void;
}

/**
 * Sends the tries of a run with many movements in chunks, one after the other. Each chunk is a child workflow with a
 * history of its own. Once some tries meet an obstacle that the others would meet too, the others wait until one of
 * those has got through: an outage costs the history of a few movements, however many there are (decision 16).
 */
export class ChunkSender implements Sender {
  readonly #context: SaleContext;
  #waiting: QueuedTry[] = [];
  /** Movements whose last try met an obstacle that the others would meet too. */
  #obstructed: readonly StockMovement[] = [];
  #sending = false;

  constructor(context: SaleContext) {
    this.#context = context;
  }

  send(one: PendingTry): Promise<AdjustStockResult | undefined> {
    return new Promise((answer, fail) => {
      this.#waiting.push({ ...one, answer, fail });
      if (!this.#sending) void this.#sendAll();
    });
  }

  /** An error reaches every waiting movement, so that it fails the run as it would under {@link DirectSender}. */
  async #sendAll(): Promise<void> {
    this.#sending = true;
    try {
      await this.#sendWaiting();
    } catch (error) {
      for (const { fail } of this.#take(() => true)) fail(error);
    } finally {
      this.#sending = false;
    }
  }

  async #sendWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      // All tries that begin in the same activation go into the same chunk.
      await endOfTurn();
      await condition(() => this.#waiting.some((one) => one.givenUp() || this.#maySend(one)));
      for (const one of this.#take((each) => each.givenUp())) one.answer(undefined);
      const due = this.#take((each) => this.#maySend(each), this.#context.profile.timings.movementChunk);
      if (due.length > 0) await this.#send(due).catch((error: unknown) => this.#fail(due, error));
    }
  }

  #fail(due: readonly QueuedTry[], error: unknown): never {
    for (const { fail } of due) fail(error);
    throw error;
  }

  /** While there is an obstacle, only the movements that met it try again: they have waited as its answer said. */
  #maySend({ movement }: QueuedTry): boolean {
    const open = this.#obstructed.filter(({ state }) => state !== "dropped" && state !== "applied");
    return open.length === 0 || open.includes(movement);
  }

  #take(which: (one: QueuedTry) => boolean, most = Number.POSITIVE_INFINITY): QueuedTry[] {
    const taken = this.#waiting.filter(which).slice(0, most);
    this.#waiting = this.#waiting.filter((one) => !taken.includes(one));
    return taken;
  }

  async #send(due: QueuedTry[]): Promise<void> {
    const { run } = this.#context;
    for (const { markSending } of due) markSending();
    run.stockMoved();
    const results = due.length > MOST_AT_ONCE ? await sendChunk(this.#context, due) : await this.#sendFew(due);
    const unsent = due.filter(({ movement }) => !results.has(movement));
    for (const { movement } of unsent) {
      if (movement.state === "sending") movement.state = "planned";
      delete movement.sentAtMs;
    }
    this.#waiting = [...unsent, ...this.#waiting];
    const obstructed = [...results].flatMap(([movement, result]) => (isSharedObstacle(result) ? [movement] : []));
    const gotThrough = obstructed.length < results.size;
    this.#obstructed = gotThrough ? obstructed : [...new Set([...this.#obstructed, ...obstructed])];
    for (const { movement, answer } of due) {
      const result = results.get(movement);
      if (result) answer(result);
    }
    run.stockMoved();
  }

  async #sendFew(due: readonly QueuedTry[]): Promise<Map<StockMovement, AdjustStockResult>> {
    const send = async ({ movement, request }: QueuedTry) =>
      [movement, await sendMovement(this.#context, request, this.#context.run.inWords(movement))] as const;
    return new Map(await Promise.all(due.map(send)));
  }
}

/**
 * Sends one try of each of these movements in a child workflow. If the child fails, the claims say what became of each.
 * @returns the result of each; a movement without one was not sent
 */
async function sendChunk(
  context: SaleContext,
  tries: readonly PendingTry[],
): Promise<Map<StockMovement, AdjustStockResult>> {
  const { run, target } = context;
  // Random, since after a reset the earlier run's chunks may still be open. A replay draws the same id again.
  const workflowId = moveStockWorkflowId({ ...target, number: run.invoice, chunk: uuid4() });
  try {
    const { answers } = await runChunk(context, workflowId, tries);
    const results = new Map(answers.map(({ referenceId, result }) => [referenceId, result]));
    return new Map(
      tries.flatMap(({ movement }) => {
        const result = results.get(movement.referenceId);
        return result ? [[movement, result] as const] : [];
      }),
    );
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const whyLost = `The workflow ${workflowId}, which sent it, ended without its answers: ${rootMessage(error)}.`;
    const semaphore = new Semaphore(MOST_AT_ONCE);
    const read = async ({ movement, request }: PendingTry) =>
      [movement, await semaphore.run(() => readOutcomeFromClaim(target, request, whyLost))] as const;
    return new Map(await Promise.all(tries.map(read)));
  }
}

/** Cancels the child once one of the movements is given up. It then sends no more, and returns what it has sent. */
async function runChunk(
  { run, profile, target }: SaleContext,
  workflowId: string,
  tries: readonly PendingTry[],
): Promise<MoveStockResult> {
  const { application, businessId, businessWeight, keyReach, timings } = profile;
  const route = { application, businessId, businessWeight, keyReach, timings };
  const movements = tries.map(({ request }) => request);
  const scope = new CancellationScope();
  const child = await scope.run(() =>
    startChild<(input: MoveStockInput) => Promise<MoveStockResult>>(WORKFLOW_TYPES.moveStock, {
      workflowId,
      args: [{ ...target, retriedAtMs: run.retriedAtMs, route, movements }],
      // If the parent closes, nobody would read the answers: the child sends no more, but settles what it has sent.
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: [
        { key: businessAttribute, value: run.businessId ?? NO_BUSINESS },
        { key: invoiceAttribute, value: keywordValue(run.invoice) },
      ],
      ...aboutWorkflow(
        "moveStock",
        target,
        `of the ${run.workflow === "sale" ? "sale" : "credit note"} ${run.invoice}`,
      ),
    }),
  );
  let ended = false;
  const answered = child.result().finally(() => (ended = true));
  answered.catch(() => undefined);
  await condition(() => ended || tries.some(({ givenUp }) => givenUp()));
  // Only after the start: a cancelled start would not tell whether the child was started.
  if (!ended) scope.cancel();
  return await answered;
}
