import { condition } from "@temporalio/workflow";

import type { AdjustStockResult, StockMovement } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { endOfTurn } from "../run/end-of-turn.ts";
import { type Lane, MOST_AT_ONCE, type Try } from "./lane.ts";
import { sendChunk } from "./send-chunk.ts";
import { sendMovement } from "./send-movement.ts";
import { isTrouble } from "./trouble.ts";

interface Waiting extends Try {
  answer: (result: AdjustStockResult | undefined) => void;
  fail: (error: unknown) => void;
}

/**
 * The tries of a run of many movements, one chunk after the other, each in a history of its own. Where some have met what all would meet, the others
 * wait until one of those has got through: an outage costs the history of a few movements, however many there are.
 */
export class Chunks implements Lane {
  readonly #work: Work;
  #waiting: Waiting[] = [];
  #inTrouble: readonly StockMovement[] = [];
  #sending = false;

  constructor(work: Work) {
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
