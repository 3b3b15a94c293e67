import { Context } from "@temporalio/activity";

import type { LedgerActivities } from "../../src/contract/index.ts";
import { writerOf } from "./claim-results.ts";
import type { LedgerContext } from "./movements.ts";
import { onceThere } from "./once-there.ts";

export function createBillPaymentLedgerActivities({
  ledger,
  random,
}: LedgerContext): Pick<
  LedgerActivities,
  "beginBillPaymentsSync" | "compareBillPaymentsRound" | "billPaymentsHeld" | "completeBillPaymentsSync"
> {
  const there = <T>(act: () => Promise<T>): Promise<T> => onceThere(act, random);
  return {
    beginBillPaymentsSync: (sync) =>
      there(async () => {
        const knownUntilMs = await ledger.billPayments.knownUntil(sync.connection);
        const kind = knownUntilMs === undefined ? "full" : sync.kind;
        await ledger.billPayments.begin({ ...sync, kind });
        return { kind, ...(knownUntilMs !== undefined && { knownUntilMs }) };
      }),
    compareBillPaymentsRound: ({ connection, round: name, startedAtMs, ...how }) =>
      there(() => {
        const { reachMs, syncStartedAtMs, withStatuses } = how;
        const round = { name, startedAtMs };
        return ledger.billPayments.compareRound(connection, round, { reachMs, syncStartedAtMs, withStatuses });
      }),
    billPaymentsHeld: ({ connection }) => there(() => ledger.billPayments.summary(connection)),
    completeBillPaymentsSync: ({ settled, knownUntilMs, round, ...sync }) =>
      there(async () => {
        await ledger.billPayments.complete(sync, { settled, knownUntilMs, round }, writerOf(Context.current().info));
        return ledger.billPayments.summary(sync.connection);
      }),
  };
}
