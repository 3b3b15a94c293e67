import { setTimeout as delay } from "node:timers/promises";

import { troubleInWords } from "../../contract/index.ts";
import type { SaleKey, SaleState } from "../../starter/index.ts";
import { workflowState } from "../../starter/workflow-state.ts";
import type { BusinessScope } from "../jobs/business-of.ts";
import type { CliContext } from "../context.ts";
import { printNote } from "../output.ts";
import { withFleetTrouble } from "./service-troubles.ts";
import { waitsForInWords } from "./waits-for.ts";
import type { Sales } from "./with-sales.ts";

/** Sooner, hardly a call has met anything. */
const FIRST_LOOK_AFTER_MS = 2_500;
const LOOK_EVERY_MS = 2_000;
/** What the other sales have met takes many calls of Temporal. */
const FLEET_LOOK_EVERY_MS = 5_000;

type Key = SaleKey & BusinessScope;

export interface TroubleNotes {
  /** Says what the sale waits for, where something is wrong with the API: once, until that is another. */
  tell(key: Key, state: SaleState): Promise<void>;
  /** Looks at the sale until the work that waits for it has ended. */
  during<T>(key: Key, work: Promise<T>): Promise<T>;
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

  async function look(key: Key, signal: AbortSignal): Promise<void> {
    const isOver = () => signal.aborted;
    for (let pauseMs = FIRST_LOOK_AFTER_MS; !isOver(); pauseMs = LOOK_EVERY_MS) {
      try {
        await delay(pauseMs, undefined, { signal });
        await tell(key, await workflowState(client, key), isOver);
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
