import { setTimeout as delay } from "node:timers/promises";

import {
  areSettled,
  type Attention,
  isCorrectionLeft,
  type SaleOutcome,
  SETTLED_STAGES,
  troubleInWords,
} from "../../contract/index.ts";
import { outcomeOf, stateOfSale } from "../../starter/state-of-sale.ts";
import { bounded } from "../../starter/bound.ts";
import { NoAnswerError, type SaleKey, type SaleState } from "../../starter/index.ts";
import type { CliContext } from "../context.ts";
import type { BusinessScope } from "../jobs/business-of.ts";
import { counted, jsonText, nairobiClock, printNote, printResult } from "../output.ts";
import { showCommand } from "./command-lines.ts";
import { outcomeLine } from "./document-lines.ts";
import type { ResultFlags, Scope } from "./scope.ts";
import { withFleetTrouble } from "./service-troubles.ts";
import { waitsForInWords } from "./show.ts";
import { type Sales, withSales } from "./with-sales.ts";

type Key = SaleKey & BusinessScope;

const LOOK_EVERY_MS = 500;
/** Of a command that waits for an outcome: sooner, hardly a call has met anything. */
const LOOK_BESIDE_EVERY_MS = 2_500;
/** What the other sales have met takes many calls of Temporal. */
const FLEET_LOOK_EVERY_MS = 5_000;
/** By then a worker that runs has answered. */
const SILENT_AFTER_MS = 10_000;
/** The ledger, which knows a sale that is closed, is asked for longer. */
const LOOK_WITHIN_MS = 20_000;

const NO_ANSWER =
  "started, and no worker answers yet: it goes on as soon as one runs. Is `fiscalflow worker` running, on this namespace?";

/**
 * Looks at sales again and again, and says on standard error, once, what keeps them waiting: trouble with a service, in
 * the words of `sale show`, or that no worker answers.
 */
export function createFollower(context: CliContext, { client }: Pick<Sales, "client">) {
  const told = new Set<string>();
  let nextFleetLookMs = 0;
  const tellOnce = (news: string, text: string): void => {
    if (!told.has(news)) printNote(context, text);
    told.add(news);
  };
  const tellTrouble = async ({ invoice, connection }: Key, own: SaleState, signal: AbortSignal): Promise<void> => {
    const isTime = Date.now() >= nextFleetLookMs;
    if (isTime) nextFleetLookMs = Date.now() + FLEET_LOOK_EVERY_MS;
    const state = isTime ? await withFleetTrouble(client, connection, own) : own;
    if (!state.serviceTrouble || signal.aborted) return;
    const words = troubleInWords(state.serviceTrouble);
    const waits = `${invoice}: waits for ${waitsForInWords(state)}. ${words}, as far as calls show`;
    // Sales of one connection wait for the same.
    tellOnce(`${connection} ${words}`, waits);
  };

  /** @param isEnd whether this was the last look */
  async function follow(
    key: Key,
    everyMs: number,
    signal: AbortSignal,
    isEnd: (state: SaleState) => boolean = () => false,
  ): Promise<void> {
    for (;;) {
      const look = () => stateOfSale(client, key, undefined, SILENT_AFTER_MS);
      const state = await bounded(client, LOOK_WITHIN_MS, look).catch((error: unknown) => {
        if (!(error instanceof NoAnswerError)) throw error;
        tellOnce(NO_ANSWER, `${key.invoice}: ${NO_ANSWER}`);
        return undefined;
      });
      if (state && isEnd(state)) return;
      if (state) await tellTrouble(key, state, signal);
      await delay(everyMs, undefined, { signal });
    }
  }

  /** Follows the sale until the work that waits for it has ended; the work itself tells what keeps it from an answer. */
  async function beside<T>(key: Key, work: Promise<T>): Promise<T> {
    const over = new AbortController();
    const { signal } = over;
    delay(LOOK_BESIDE_EVERY_MS, undefined, { signal })
      .then(() => follow(key, LOOK_BESIDE_EVERY_MS, signal))
      .catch(() => undefined);
    try {
      return await work;
    } finally {
      over.abort();
    }
  }

  return { follow, beside };
}

/** `sale watch`: a line for each change, until the sale is settled. */
export async function watchSale(context: CliContext, invoice: string, flags: Scope & ResultFlags): Promise<void> {
  await withSales(context, async (sales) => {
    let shown = "";
    let isOperatorTold = false;
    let callbacks = 0;
    const { follow } = createFollower(context, sales);
    await follow(sales.keyOf(invoice, flags), LOOK_EVERY_MS, context.signal, (state) => {
      // Only an open workflow counts them.
      callbacks = Math.max(callbacks, state.callbacksReceived);
      const { waitingFor, attentions, closed } = state;
      const outcome = outcomeOf(state);
      const needed = closed ? [] : attentions;
      const line = progressLine(outcome, needed, callbacks);
      if (line !== shown) {
        const atMs = Date.now();
        // That changes more often than anybody wants to read.
        const waits = waitingFor === "nothing" ? "" : `; waits for ${waitingFor}`;
        const needs = needed.map(({ code }) => code);
        const seen = { atMs, ...outcome, needs, callbacksReceived: callbacks, waitingFor };
        if (flags.json) context.stdout.write(`${jsonText(seen)}\n`);
        else printResult(context, false, undefined, `${nairobiClock(atMs)}  ${line}${waits}`);
      }
      shown = line;
      if (needed.length > 0 && !isOperatorTold) {
        const show = showCommand(invoice, flags);
        printNote(context, `How to resolve it: ${show}. This command goes on watching.`);
        isOperatorTold = true;
      }
      return isSettled(state);
    });
  });
}

/** @param attentions all that somebody is needed for: the outcome has one */
export function progressLine(outcome: SaleOutcome, attentions: readonly Attention[], callbacks: number): string {
  const counts = new Map<string, number>();
  for (const { state } of outcome.stockMovements) counts.set(state, (counts.get(state) ?? 0) + 1);
  const movements = [...counts].map(([state, count]) => `${count} ${state}`).join(", ");
  // Of an outcome with an attention the line ends in its code.
  const others = attentions.filter((one) => one !== outcome.attention).map(({ code }) => code);
  const parts = [
    [outcomeLine(outcome), ...others].join(", "),
    movements !== "" && `stock movements: ${movements}`,
    callbacks > 0 && counted(callbacks, "callback"),
  ];
  return parts.filter(Boolean).join("; ");
}

function isSettled({ source, stage, attentions, stockMovements, correction, closed }: SaleState): boolean {
  // Nothing carries on what the ledger alone knows, or what ended without an outcome.
  if (source === "ledger" || closed) return true;
  const isDone = SETTLED_STAGES.includes(stage) && areSettled(stockMovements) && !isCorrectionLeft(correction);
  return isDone && attentions.length === 0;
}
