import { setTimeout as delay } from "node:timers/promises";
import { type Client, ServiceError } from "@temporalio/client";

import { isWithoutAnswer } from "../../../src/starter/answered-in-time.ts";
import { LedgerAwayError, NoAnswerError, TemporalUnavailableError } from "../../../src/starter/index.ts";

const ANSWER_WITHIN_MS = 8_000;
const PAUSE_MS = 300;

/** Each says to ask again. */
const ASKED_AGAIN = [NoAnswerError, TemporalUnavailableError, LedgerAwayError, ServiceError];

/** Asks until somebody answers, as any caller of a service does that is killed now and then. */
export async function askUntilAnswered<T>(client: Client, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, ask);
    } catch (error) {
      const nobody = ASKED_AGAIN.some((kind) => error instanceof kind) || isWithoutAnswer(error);
      if (!nobody || signal.aborted) throw error;
      await delay(PAUSE_MS);
    }
  }
}
