import { ledger } from "../proxies.ts";
import { untilDone } from "./until-done.ts";

/** Waits until the database of the claims answers, or until it need not be waited for any more. An outage costs no history. */
export async function untilLedger(orUntil: () => boolean): Promise<void> {
  await untilDone(() => ledger.awaitLedger(), orUntil);
}
