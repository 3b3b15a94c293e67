import { Context } from "@temporalio/activity";

import { type ItemOutcomeKind, type LedgerActivities, noOutcomes } from "../../src/contract/index.ts";
import { retryWhileLedgerAway } from "../failure.ts";
import { writerOf } from "./claim-results.ts";
import type { LedgerContext } from "./movements.ts";

/** Of each kind of finding: a result is for people, and all of them are in the ledger. */
const MOST_PURCHASES = 20;

export function createSyncLedgerActivities({
  ledger: { purchases, billPayments },
  random,
}: LedgerContext): Pick<
  LedgerActivities,
  | "beginPurchasesSync"
  | "unseenPurchases"
  | "windowsOfChangedPurchases"
  | "completePurchasesSync"
  | "beginBillPaymentsSync"
  | "compareBillPaymentsRound"
  | "billPaymentsHeld"
  | "completeBillPaymentsSync"
> {
  const withLedger = <T>(act: () => Promise<T>): Promise<T> => retryWhileLedgerAway(act, random);
  const writer = () => writerOf(Context.current().info);
  return {
    beginPurchasesSync: (sync) => withLedger(() => purchases.begin(sync)),
    unseenPurchases: (sync) => withLedger(() => purchases.unseen(sync)),
    windowsOfChangedPurchases: (sync) => withLedger(() => purchases.windowsOfChanged(sync)),
    completePurchasesSync: (sync) =>
      withLedger(async () => {
        await purchases.complete(sync, writer());
        const { total, byStatus, ...findings } = await purchases.summary(sync, MOST_PURCHASES);
        return { total, byStatus, findings };
      }),
    beginBillPaymentsSync: (sync) =>
      withLedger(async () => {
        const knownUntilMs = await billPayments.knownUntil(sync.connection);
        const kind = knownUntilMs === undefined ? "full" : sync.kind;
        await billPayments.begin({ ...sync, kind });
        return { kind, ...(knownUntilMs !== undefined && { knownUntilMs }) };
      }),
    compareBillPaymentsRound: ({ connection, round: name, startedAtMs, reachMs, syncStartedAtMs, withStatuses }) =>
      withLedger(() => {
        const how = { reachMs, syncStartedAtMs, withStatuses };
        return billPayments.compareRound(connection, { name, startedAtMs }, how);
      }),
    billPaymentsHeld: ({ connection }) => withLedger(() => billPayments.summary(connection)),
    completeBillPaymentsSync: ({ settled, knownUntilMs, round, ...sync }) =>
      withLedger(async () => {
        await billPayments.complete(sync, { settled, knownUntilMs, round }, writer());
        return billPayments.summary(sync.connection);
      }),
  };
}

/** Of each kind: a result is for people, and all of them are in the ledger. */
const MOST_ITEMS = 100;

export function createRegistrationActivities({
  ledger,
  random,
}: LedgerContext): Pick<LedgerActivities, "keepRegistrations" | "reportRegistrations"> {
  return {
    keepRegistrations: ({ batchId, outcomes, ...business }) =>
      retryWhileLedgerAway(() => {
        const writer = writerOf(Context.current().info);
        return ledger.items.keep(business, { batchId, outcomes, writer });
      }, random),

    reportRegistrations: ({ batchId, ...business }) =>
      retryWhileLedgerAway(async () => {
        const first = async (kind: ItemOutcomeKind) => {
          const page = await ledger.items.page(business, { kinds: [kind], batchId, most: MOST_ITEMS });
          return page.map(({ atMs: _atMs, ...outcome }) => outcome);
        };
        return {
          counts: { ...noOutcomes(), ...(await ledger.items.counts(business, batchId)) },
          needsData: await first("needs-data"),
          refused: await first("refused"),
          unknown: await first("unknown"),
          unclear: await first("unclear"),
        };
      }, random),
  };
}

/** Documents that are read side by side. */
const DOCUMENTS_A_PAGE = 20;

/** A result is for people, and all of them are in the ledger. */
const MOST_FINDINGS = 50;

export function createReconcileLedgerActivities({
  ledger,
  random,
}: LedgerContext): Pick<LedgerActivities, "documentsToReconcile" | "reconcilePayments" | "reconcileFindings"> {
  return {
    documentsToReconcile: ({ connection, businessId, after }) =>
      retryWhileLedgerAway(
        () => ledger.reconciliation.documents({ connection, businessId }, after, DOCUMENTS_A_PAGE),
        random,
      ),
    reconcilePayments: ({ connection, businessId, accounting, rule }) =>
      retryWhileLedgerAway(() => {
        const writer = writerOf(Context.current().info);
        return ledger.reconciliation.holdPayments({ connection, businessId }, { accounting, rule }, writer);
      }, random),
    reconcileFindings: ({ connection, businessId }) =>
      retryWhileLedgerAway(() => ledger.reconciliation.findings({ connection, businessId }, MOST_FINDINGS), random),
  };
}
