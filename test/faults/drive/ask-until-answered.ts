import { setTimeout as delay } from "node:timers/promises";
import { type Client, NamespaceNotFoundError, ServiceError } from "@temporalio/client";

import { isWithoutAnswer } from "../../../src/starter/answered-in-time.ts";
import { LedgerAwayError, NoAnswerError, TemporalUnavailableError } from "../../../src/starter/index.ts";

const ANSWER_WITHIN_MS = 8_000;
const PAUSE_MS = 300;

/** Each says to ask again; a Temporal that cannot read its database does not know its namespaces. */
const ASKED_AGAIN = [NoAnswerError, TemporalUnavailableError, LedgerAwayError, ServiceError, NamespaceNotFoundError];

/** Asks until somebody answers, as any caller of a service does that is killed now and then. */
export async function askUntilAnswered<T>(client: Client, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, ask);
    } catch (error) {
      const reasons = [error, ...(error instanceof Error ? [error.cause] : [])];
      const nobody = ASKED_AGAIN.some((kind) => reasons.some((one) => one instanceof kind)) || isWithoutAnswer(error);
      if (!nobody || signal.aborted) throw error;
      await delay(PAUSE_MS);
    }
  }
}
