import { Context } from "@temporalio/activity";

import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { backoffMs, ledgerAway } from "../failure.ts";

/** While the database is away the activity is tried again: an outage of hours costs no history. */
export async function onceThere<T>(act: () => Promise<T>, random: () => number): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    throw ledgerAway(error.message, backoffMs(Context.current().info.attempt, random));
  }
}
