import { type ItemOutcomeKind, type LedgerActivities, noOutcomes } from "../../src/contract/index.ts";
import { currentWriter } from "./beside-calls.ts";
import type { LedgerContext } from "./movements.ts";

/** So many of each kind are in a result, which is for people: all of them are in the ledger. */
const MOST_PURCHASES = 20;
const MOST_ITEMS = 100;
const MOST_FINDINGS = 50;

/** Documents that are read side by side. */
const DOCUMENTS_A_PAGE = 20;

export function createJobLedgerActivities({
  ledger: { purchases, billPayments, items, reconciliation },
}: LedgerContext) {
  return {
    beginPurchasesSync: (sync) => purchases.begin(sync),
    unseenPurchases: (sync) => purchases.unseen(sync),
    windowsOfChangedPurchases: (sync) => purchases.windowsOfChanged(sync),
    completePurchasesSync: async (sync) => {
      await purchases.complete(sync, currentWriter());
      const { total, byStatus, ...findings } = await purchases.summary(sync, MOST_PURCHASES);
      return { total, byStatus, findings };
    },
    beginBillPaymentsSync: async (sync) => {
      const knownUntilMs = await billPayments.knownUntil(sync.connection);
      const kind = knownUntilMs === undefined ? "full" : sync.kind;
      await billPayments.begin({ ...sync, kind });
      return { kind, ...(knownUntilMs !== undefined && { knownUntilMs }) };
    },
    compareBillPaymentsRound: ({ connection, round: name, startedAtMs, reachMs, syncStartedAtMs, withStatuses }) => {
      const how = { reachMs, syncStartedAtMs, withStatuses };
      return billPayments.compareRound(connection, { name, startedAtMs }, how);
    },
    billPaymentsHeld: ({ connection }) => billPayments.summary(connection),
    completeBillPaymentsSync: async ({ settled, knownUntilMs, round, ...sync }) => {
      await billPayments.complete(sync, { settled, knownUntilMs, round }, currentWriter());
      return billPayments.summary(sync.connection);
    },

    keepRegistrations: ({ batchId, outcomes, ...business }) =>
      items.keep(business, { batchId, outcomes, writer: currentWriter() }),

    reportRegistrations: async ({ batchId, ...business }) => {
      const first = async (kind: ItemOutcomeKind) => {
        const page = await items.page(business, { kinds: [kind], batchId, most: MOST_ITEMS });
        return page.map(({ atMs: _atMs, ...outcome }) => outcome);
      };
      return {
        counts: { ...noOutcomes(), ...(await items.counts(business, batchId)) },
        needsData: await first("needs-data"),
        refused: await first("refused"),
        unknown: await first("unknown"),
        unclear: await first("unclear"),
      };
    },

    documentsToReconcile: ({ connection, businessId, after }) =>
      reconciliation.documents({ connection, businessId }, after, DOCUMENTS_A_PAGE),
    reconcilePayments: ({ connection, businessId, accounting, rule }) =>
      reconciliation.holdPayments({ connection, businessId }, { accounting, rule }, currentWriter()),
    reconcileFindings: ({ connection, businessId }) =>
      reconciliation.findings({ connection, businessId }, MOST_FINDINGS),
  } satisfies Partial<LedgerActivities>;
}
