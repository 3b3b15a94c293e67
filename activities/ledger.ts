import { type ItemOutcomeKind, type LedgerActivities, noOutcomes, TAKEN_A_PAGE } from "../src/contract/index.ts";
import type { DocumentState, Ledger, Payer, UnderWay } from "../src/ledger/index.ts";
import { currentWriter, isUnderWay, scheduledAtMs, stillUnderWay } from "./classified-call.ts";
import { accountingOf, type ComplianceRuntime } from "./compliance/calls.ts";
import { releaseUnsent } from "./compliance/creations.ts";
import { claimedMovement, laterBalance, withLastBalance } from "./compliance/stock.ts";
import { ageMs, pollPauseMs, stillWaiting } from "./failure.ts";

interface LedgerContext {
  connections: ReadonlyMap<string, ComplianceRuntime>;
  ledger: Ledger;
  nowMs: () => number;
  random: () => number;
}

/** How often an unknown movement is looked at: nothing but the database is asked. */
const WATCH = { firstPollMs: 2_000, longestPollMs: 600_000, longestPollAfterDayMs: 3_600_000 };

/** So many of each kind are in a result, which is for people: all of them are in the ledger. */
const MOST_PURCHASES = 20;
const MOST_ITEMS = 100;
const MOST_FINDINGS = 50;

/** Documents that are read side by side. */
const DOCUMENTS_A_PAGE = 20;

/** The activities that read and write the ledger: no API call. Each fails while the ledger is away, to be retried. */
export function createLedgerActivities({ connections, ledger, nowMs, random }: LedgerContext): LedgerActivities {
  const { billPayments, documents, items, purchases, reconciliation, stock, syncBatches } = ledger;
  return {
    awaitLedger: () => ledger.answers(),

    readMovement: async (request) =>
      withLastBalance(
        ledger,
        request,
        over(await stock.readOrClose({ ...request, writer: currentWriter(), nowMs: nowMs() })),
      ),
    readTaken: async ({ after = "", close = [], ...query }) => {
      const { connection, businessId } = query;
      const keys = close.map((referenceId) => ({ connection, businessId, referenceId }));
      if (keys.length > 0) await stock.close({ keys, writer: currentWriter(), nowMs: nowMs() });
      return (await stock.goodsTaken(query))
        .filter(({ referenceId }) => referenceId > after)
        .toSorted((one, other) => (one.referenceId < other.referenceId ? -1 : 1))
        .slice(0, TAKEN_A_PAGE);
    },
    watchMovement: async (request) => {
      const known = await stock.read(request);
      if (known.kind !== "none" && known.kind !== "unknown") return known;
      if (!request.balanceShown) {
        const evidence = laterBalance(await stock.balanceAround(request), request.movement);
        if (evidence) return { kind: "balance", evidence };
      }
      throw stillWaiting("Nothing more is known.", pollPauseMs(ageMs(request.sinceMs), WATCH, random));
    },
    watchDecision: async (request) => {
      const dispute = await stock.disputeOf(request);
      if (dispute) return { decision: dispute.decision, outcome: dispute.outcome };
      throw stillWaiting("No answer contradicts the decision.", pollPauseMs(ageMs(request.sinceMs), WATCH, random));
    },
    decideMovement: async (request) => {
      const movement = claimedMovement(request.movement);
      return withLastBalance(ledger, request, await stock.decide({ ...request, movement, writer: currentWriter() }));
    },
    settleMovement: async (request) => void (await stock.settle({ ...request, writer: currentWriter() })),
    acknowledgeBranch: (request) => stock.acknowledgeBranch(request, request.otherBranch, request.decision),

    settleDocument: async ({ documentId, ...request }) => {
      const outcome = { kind: "document", documentId } as const;
      await documents.settle({ ...request, outcome, writer: currentWriter() });
    },
    isDocumentSent: async ({ unsent, ...key }) => {
      const writer = currentWriter();
      await releaseUnsent(documents, key, unsent, writer);
      return await documents.closeUnlessSent({ ...key, writer });
    },
    decideDocument: (request) => documents.decide({ ...request, writer: currentWriter() }),
    noteRun: ({ note, ...business }) => documents.note(business, note, currentWriter()),
    releaseReplacement: ({ number, replaces, ...business }) => {
      const askedAtMs = scheduledAtMs();
      return documents.release(business, { number, replaces }, { writer: currentWriter(), askedAtMs });
    },

    readBatch: async (request) =>
      over(await syncBatches.readOrClose({ ...request, writer: currentWriter(), nowMs: nowMs() })),
    settleBatch: async (request) => void (await syncBatches.settle({ ...request, writer: currentWriter() })),
    decideBatch: (request) => syncBatches.decide({ ...request, writer: currentWriter() }),

    beginSync: (sync) => ledger[sync.collection].begin(sync),
    countSync: ({ sinceMs, ...sync }) => ledger[sync.collection].count(sync, sinceMs),
    daysOfChangedPurchases: ({ sinceMs, ...sync }) => purchases.daysOfChanged(sync, sinceMs),
    completePurchasesSync: async (request) => {
      await purchases.complete(request, currentWriter());
      const { total, byStatus, ...findings } = await purchases.summary(request, MOST_PURCHASES);
      return { total, byStatus, findings };
    },
    completeBillPaymentsSync: async (request) => {
      await billPayments.complete(request, currentWriter());
      return billPayments.summary(request.connection);
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

    documentsToReconcile: (request) => reconciliation.documents(request, request.after, DOCUMENTS_A_PAGE),
    reconcilePayments: (request) => {
      const payers = payersOf(connections, request.accounting);
      return reconciliation.holdPayments(request, { ...request, payers }, currentWriter());
    },
    reconcileFindings: async (business) => ({
      ...(await reconciliation.findings(business, MOST_FINDINGS)),
      settled: await reconciliation.settled(business),
    }),
  };
}

/** Whose bills an accounting connection pays, as the configuration says: its payments do not. */
function payersOf(connections: LedgerContext["connections"], accounting: string): Payer[] {
  return [...connections.values()]
    .filter((runtime) => accountingOf(runtime) === accounting)
    .map(({ profile: { connection }, servedBusinesses: businesses, reconcile: { rule } }) => {
      return { connection, businesses, rule };
    });
}

/** An execution that has not ended is looked at so often: it may end, with an outcome, at any moment. */
const LOOK_AGAIN_MS = 2_000;

/** @throws ApplicationFailure, to be retried, while an execution may still be at the call */
function over<Known extends { kind: string }>(answer: Known | UnderWay): Known {
  if (!isUnderWay(answer)) return answer;
  throw stillWaiting(stillUnderWay(answer), Math.min(answer.forMs, LOOK_AGAIN_MS));
}

/** Whether a document of this claim exists, or may exist. */
export function isSent(claim: DocumentState | undefined): boolean {
  return claim?.documentId !== undefined || claim?.firstSentAtMs !== undefined;
}
