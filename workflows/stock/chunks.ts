import {
  CancellationScope,
  ChildWorkflowFailure,
  condition,
  ParentClosePolicy,
  startChild,
  uuid4,
} from "@temporalio/workflow";

import {
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
import { isTrouble, type Lane, MOST_AT_ONCE, sendMovement, type Try, Turns, whatBecameOf } from "./apply-movement.ts";

interface Waiting extends Try {
  answer: (result: AdjustStockResult | undefined) => void;
  fail: (error: unknown) => void;
}

/**
 * The tries of a run of many movements, one chunk after the other, each in a history of its own. Where some have met
 * what all would meet, the others wait until one of those has got through: an outage costs the history of a few
 * movements, however many there are.
 */
export class Chunks implements Lane {
  readonly #work: SaleContext;
  #waiting: Waiting[] = [];
  #inTrouble: readonly StockMovement[] = [];
  #sending = false;

  constructor(work: SaleContext) {
    this.#work = work;
  }

  send(one: Try): Promise<AdjustStockResult | undefined> {
    return new Promise((answer, fail) => {
      this.#waiting.push({ ...one, answer, fail });
      if (!this.#sending) void this.#sendAll();
    });
  }

  /** What ends the run ends it with its reason, as where each movement is sent by itself. */
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
      // What comes of the same events goes together.
      await endOfTurn();
      await condition(() => this.#waiting.some((one) => one.givenUp() || this.#mayGo(one)));
      for (const one of this.#take((each) => each.givenUp())) one.answer(undefined);
      const due = this.#take((each) => this.#mayGo(each), this.#work.profile.timings.movementChunk);
      if (due.length > 0) await this.#send(due).catch((error: unknown) => this.#fail(due, error));
    }
  }

  #fail(due: readonly Waiting[], error: unknown): never {
    for (const { fail } of due) fail(error);
    throw error;
  }

  /** Behind trouble only those go that have met it, and have waited for what it asks for. */
  #mayGo({ movement }: Waiting): boolean {
    const open = this.#inTrouble.filter(({ state }) => state !== "dropped" && state !== "applied");
    return open.length === 0 || open.includes(movement);
  }

  #take(which: (one: Waiting) => boolean, most = Number.POSITIVE_INFINITY): Waiting[] {
    const taken = this.#waiting.filter(which).slice(0, most);
    this.#waiting = this.#waiting.filter((one) => !taken.includes(one));
    return taken;
  }

  async #send(due: Waiting[]): Promise<void> {
    const { run } = this.#work;
    for (const { begin } of due) begin();
    run.stockMoved();
    const results = due.length > MOST_AT_ONCE ? await sendChunk(this.#work, due) : await this.#sendFew(due);
    const unsent = due.filter(({ movement }) => !results.has(movement));
    for (const { movement } of unsent) {
      if (movement.state === "sending") movement.state = "planned";
      delete movement.sentAtMs;
    }
    this.#waiting = [...unsent, ...this.#waiting];
    const troubled = [...results].flatMap(([movement, result]) => (isTrouble(result) ? [movement] : []));
    const gotThrough = troubled.length < results.size;
    this.#inTrouble = gotThrough ? troubled : [...new Set([...this.#inTrouble, ...troubled])];
    for (const { movement, answer } of due) {
      const result = results.get(movement);
      if (result) answer(result);
    }
    run.stockMoved();
  }

  async #sendFew(due: readonly Waiting[]): Promise<Map<StockMovement, AdjustStockResult>> {
    const send = async ({ movement, asked }: Waiting) => [movement, await sendMovement(this.#work, asked)] as const;
    return new Map(await Promise.all(due.map(send)));
  }
}

/**
 * Sends one try of each of these movements by a child workflow. Where that ends without its answers, the claims tell
 * what became of each.
 * @returns what each came to; a movement that is not in it was not sent
 */
async function sendChunk(work: SaleContext, tries: readonly Try[]): Promise<Map<StockMovement, AdjustStockResult>> {
  const { run, target } = work;
  // After a reset the runs of before may still have theirs: each chunk has an id of its own, which a replay draws
  // again.
  const workflowId = moveStockWorkflowId({ ...target, number: run.invoice, chunk: uuid4() });
  try {
    const { answers } = await answersOf(work, workflowId, tries);
    const results = new Map(answers.map(({ referenceId, result }) => [referenceId, result]));
    return new Map(
      tries.flatMap(({ movement }) => {
        const result = results.get(movement.referenceId);
        return result ? [[movement, result] as const] : [];
      }),
    );
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const said = `The workflow ${workflowId}, which sent it, ended without its answers: ${rootMessage(error)}.`;
    const turns = new Turns(MOST_AT_ONCE);
    const ask = async ({ movement, asked }: Try) =>
      [movement, await turns.take(() => whatBecameOf(target, asked, said))] as const;
    return new Map(await Promise.all(tries.map(ask)));
  }
}

/** Once one of them is given up the child is asked to send no more; what it has sent is waited for. */
async function answersOf(
  { run, profile, target }: SaleContext,
  workflowId: string,
  tries: readonly Try[],
): Promise<MoveStockResult> {
  const { application, businessId, businessWeight, keyReach, timings } = profile;
  const route = { application, businessId, businessWeight, keyReach, timings };
  const movements = tries.map(({ asked }) => asked);
  const scope = new CancellationScope();
  const child = await scope.run(() =>
    startChild<(input: MoveStockInput) => Promise<MoveStockResult>>(WORKFLOW_TYPES.moveStock, {
      workflowId,
      args: [{ ...target, retriedAtMs: run.retriedAtMs, route, movements }],
      // Without its run nobody would hear of what it sends; what has left must come to its claim all the same.
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: [
        { key: businessAttribute, value: run.businessId ?? NO_BUSINESS },
        { key: invoiceAttribute, value: keywordValue(run.invoice) },
      ],
      staticSummary: `${tries.length} stock movements of the workflow ${run.workflowId}`,
    }),
  );
  let ended = false;
  const answered = child.result().finally(() => (ended = true));
  answered.catch(() => undefined);
  await condition(() => ended || tries.some(({ givenUp }) => givenUp()));
  // Only one that was started is cancelled: whether it was, a cancelled start would not tell.
  if (!ended) scope.cancel();
  return await answered;
}
