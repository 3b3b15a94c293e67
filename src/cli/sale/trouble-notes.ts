import { setTimeout as delay } from "node:timers/promises";

import { everythingWaitedFor, troubleInWords, type Waiting } from "../../contract/index.ts";
import type { SaleKey, SaleState } from "../../starter/index.ts";
import { saleIdOf } from "../../starter/sale-key.ts";
import { stateOfSale } from "../../starter/state-of-sale.ts";
import type { BusinessScope } from "../jobs/business-of.ts";
import type { CliContext } from "../context.ts";
import { printNote } from "../output.ts";
import { withFleetTrouble } from "./service-troubles.ts";
import type { Sales } from "./with-sales.ts";

/** Sooner, hardly a call has met anything. */
const FIRST_LOOK_AFTER_MS = 2_500;
const LOOK_EVERY_MS = 2_000;
/** What the other sales have met takes many calls of Temporal. */
const FLEET_LOOK_EVERY_MS = 5_000;

/** By then a worker that runs has answered. */
const SILENT_AFTER_MS = 10_000;

const NO_ANSWER =
  "started, and no worker answers yet: it goes on as soon as one runs. Is `fiscalflow worker` running, on this namespace?";

type Key = SaleKey & BusinessScope;

export interface TroubleNotes {
  /** Says what the sale waits for, where something is wrong with the API: once, until that is another. */
  tell(key: Key, state: SaleState): Promise<void>;
  /** Looks at the sale until the work that waits for it has ended, and says so where no worker answers. */
  during<T>(key: Key, work: Promise<T>): Promise<T>;
}

/** What a sale waits for: an operator before all else, wherever an update can reach it. */
export function waitsForInWords({
  source,
  closed,
  ...waiting
}: Pick<SaleState, "source" | "closed"> & Waiting): string {
  return closed || source === "ledger" ? waiting.waitingFor : everythingWaitedFor(waiting);
}

/** What is wrong with the API, in the words of `sale show`, for whoever watches a command that waits. */
export function troubleNotes(context: CliContext, { client }: Pick<Sales, "client">): TroubleNotes {
  const told = new Set<string>();
  let nextFleetLookMs = 0;

  async function tell({ invoice, connection }: Key, own: SaleState, isOver = () => false): Promise<void> {
    let state = own;
    if (Date.now() >= nextFleetLookMs) {
      nextFleetLookMs = Date.now() + FLEET_LOOK_EVERY_MS;
      state = await withFleetTrouble(client, connection, own);
    }
    if (!state.serviceTrouble || isOver()) return;
    const words = troubleInWords(state.serviceTrouble);
    // Sales of one connection wait for the same.
    const news = `${connection} ${words}`;
    if (told.has(news)) return;
    told.add(news);
    printNote(context, `${invoice}: waits for ${waitsForInWords(state)}. ${words}, as far as calls show`);
  }

  /** Without a worker the wait itself has nothing to say until it is over. */
  async function tellOfSilence(key: Key, isOver: () => boolean): Promise<void> {
    await client.workflow.getHandle(saleIdOf(key)).describe();
    if (isOver() || told.has(NO_ANSWER)) return;
    told.add(NO_ANSWER);
    printNote(context, `${key.invoice}: ${NO_ANSWER}`);
  }

  async function look(key: Key, signal: AbortSignal): Promise<void> {
    let answered = false;
    const isOver = () => signal.aborted;
    delay(SILENT_AFTER_MS, undefined, { signal })
      .then(() => (answered ? undefined : tellOfSilence(key, () => answered || isOver())))
      // Over, or not started yet: the wait itself tells.
      .catch(() => undefined);
    for (let pauseMs = FIRST_LOOK_AFTER_MS; !isOver(); pauseMs = LOOK_EVERY_MS) {
      try {
        await delay(pauseMs, undefined, { signal });
        const state = await stateOfSale(client, key);
        answered = true;
        await tell(key, state, isOver);
      } catch {
        // The wait itself tells what keeps it from an answer.
      }
    }
  }

  return {
    tell: (key, state) => tell(key, state),
    async during(key, work) {
      const over = new AbortController();
      void look(key, over.signal);
      try {
        return await work;
      } finally {
        over.abort();
      }
    },
  };
}
