import type { Client } from "@temporalio/client";
import { setTimeout as delay } from "node:timers/promises";

import { type Ledger, misfitOf } from "../ledger/index.ts";
import { isNoneForUs } from "./require-temporal.ts";
import { type LedgerNote, readLedgerNote, writeLedgerNote } from "./ledger-note.ts";
import { EVERY_MS, lookRegularly, type WatchLog } from "./each-minute.ts";

const READ_AGAIN_MS = 1_000;
/** Temporal may be slow to answer while everything starts; where it has Schedules that nobody carries out, it never does. */
const FIRST_READ_WITHIN_MS = 6_000;
const FIRST_READ_PAUSE_MS = 200;

/**
 * What this namespace's workers have seen of the ledger, so that a database that was restored, or is another one, is
 * noticed before a claim is taken from it: read before the ledger is opened, compared with the ledger and written to
 * Temporal each minute.
 */
export class LedgerWitness {
  readonly #client: Client;
  readonly #log: WatchLog;
  #seen: Promise<LedgerNote | undefined>;
  #readAtMs = 0;

  constructor(client: Client, log: WatchLog) {
    this.#client = client;
    this.#log = log;
    this.#seen = this.#readFirst();
  }

  /** As {@link LedgerOptions} wants it. */
  readonly seen = (anew = false): Promise<LedgerNote | undefined> => {
    // Each call of the ledger asks, for as long as it does not fit.
    if (anew && performance.now() - this.#readAtMs > READ_AGAIN_MS) this.#seen = this.#read(this.#seen);
    return this.#seen;
  };

  /**
   * Until it is there the ledger is away for this process: a database that lost something would be taken for the one
   * that others have used. Undefined where Temporal answers that it has no Schedules for us, or for too long does not say:
   * then {@link watch} asks on, each minute.
   */
  async #readFirst(): Promise<LedgerNote | undefined> {
    const deadlineMs = performance.now() + FIRST_READ_WITHIN_MS;
    for (;;) {
      this.#readAtMs = performance.now();
      try {
        return await readLedgerNote(this.#client);
      } catch (error) {
        if (isNoneForUs(error) || performance.now() > deadlineMs) return undefined;
        await delay(FIRST_READ_PAUSE_MS, undefined, { ref: false });
      }
    }
  }

  /**
   * Sales go on where Temporal's Schedules are away, of which the look each minute tells: the database itself still knows
   * on which server it was.
   */
  #read(before: Promise<LedgerNote | undefined> | undefined): Promise<LedgerNote | undefined> {
    this.#readAtMs = performance.now();
    return readLedgerNote(this.#client).catch(() => before);
  }

  /** @returns what ends it */
  watch(ledger: Pick<Ledger, "place" | "recheck">, everyMs = EVERY_MS): () => Promise<void> {
    return lookRegularly({
      look: async () => {
        await this.#look(ledger);
        return 0;
      },
      everyMs,
      log: this.#log,
      failing: "the ledger cannot be held against what the workers have seen of it; it is tried again each minute",
    });
  }

  async #look(ledger: Pick<Ledger, "place" | "recheck">): Promise<void> {
    const noted = await readLedgerNote(this.#client);
    this.#seen = Promise.resolve(noted);
    // Throws, and says why, where a connection has met another database.
    const place = await ledger.place();
    if (misfitOf(place, noted) !== undefined) {
      // Rows may be restored under connections that stay open.
      ledger.recheck();
      await ledger.place();
    }
    if (noted?.events !== place.events || noted.server !== place.server) await writeLedgerNote(this.#client, place);
    this.#seen = Promise.resolve(place);
  }
}
