import {
  type AccountingProfile,
  BILL_PAYMENT_STATUSES,
  DEFAULT_CONNECTION,
  type MainActivities,
  type NotCompared,
} from "../../src/contract/index.ts";
import { InvalidInputError, parseInput } from "../../src/contract/schema/parse-input.ts";
import {
  processSyncBatchInputSchema,
  reconcileInputSchema,
  registerItemsInputSchema,
  syncBillPaymentsInputSchema,
  syncPurchasesInputSchema,
} from "../../src/contract/schema/job-inputs.ts";
import type { AccountingRuntime } from "../accounting.ts";
import { accountingOf, type ComplianceRuntime, runtimeOf } from "../compliance/calls.ts";
import { failOnInvalidInput, profileFor } from "./prepare.ts";

const ITEMS = "input of the registration";
const RECONCILE = "input of the reconciliation";
const SYNC = "input of the synchronisation";
const BATCH = "input of the sync batch";

/** The statuses of a supplier invoice that may still change. */
const OPEN = ["pulled", "pending_review"];

type Accounting = ReadonlyMap<string, { profile: AccountingProfile; dialect: AccountingRuntime["dialect"] }>;

export function createJobPreparations(connections: ReadonlyMap<string, ComplianceRuntime>, accounting: Accounting) {
  return {
    prepareRegisterItems: async ({ input }) =>
      failOnInvalidInput(() => {
        const batch = parseInput(registerItemsInputSchema, input ?? {}, ITEMS);
        const profile = profileFor(connections, batch, ITEMS);
        if (batch.force === true && connections.get(profile.connection)?.dialect.register.force === null) {
          const why = "the dialect has no name for the flag (register.force), so the API cannot be asked for it";
          throw new InvalidInputError(ITEMS, [`force: expected nothing, since ${why}; found true`]);
        }
        return { profile };
      }),

    prepareReconcile: async ({ input }) =>
      failOnInvalidInput(() => {
        const wanted = parseInput(reconcileInputSchema, input ?? {}, RECONCILE);
        const profile = profileFor(connections, wanted, RECONCILE);
        const known = [...accounting.keys()];
        const runtime = runtimeOf({ connections }, profile.connection);
        const { rule } = runtime.reconcile;
        const name = accountingOf(runtime);
        return { profile, accounting: accounting.has(name) ? name : withoutAccounting(name, known), rule };
      }),

    prepareSyncPurchases: async ({ input }) =>
      failOnInvalidInput(() => {
        const sync = parseInput(syncPurchasesInputSchema, input ?? {}, SYNC);
        const profile = profileFor(connections, sync, SYNC);
        const names = connections.get(profile.connection)?.dialect.purchases;
        if (sync.from !== undefined) {
          if (names?.from === null) {
            const why = "the dialect has no name for the from date (purchases.from), so the API cannot be asked for it";
            throw new InvalidInputError(SYNC, [`from: expected nothing, since ${why}; found "${sync.from}"`]);
          }
          return { profile, kind: "window", from: sync.from, statuses: [] };
        }
        // Without names to ask for what may still change, or for what has changed, only the whole list shows it.
        const full = sync.full === true || [names?.status, names?.from, names?.to].includes(null);
        return { profile, kind: full ? "full" : "recent", statuses: names?.status === null ? [] : OPEN };
      }),

    prepareSyncBillPayments: async ({ input }) =>
      failOnInvalidInput(() => {
        const sync = parseInput(syncBillPaymentsInputSchema, input ?? {}, SYNC);
        const { profile, dialect } = accountingFor(accounting, sync.connection, SYNC);
        const { sortBy, sortDirection, status } = dialect.billPayments;
        if (sortBy === null || sortDirection === null) {
          const why =
            "billPayments.sortBy and billPayments.sortDirection of its dialect need names: unsorted pages miss payments";
          throw new InvalidInputError(SYNC, [
            `connection: expected another one than "${profile.connection}", since ${why}`,
          ]);
        }
        const kind = sync.full === true ? "full" : "recent";
        return { profile, kind, statuses: status === null ? [] : BILL_PAYMENT_STATUSES };
      }),

    prepareSyncBatch: async ({ input }) =>
      failOnInvalidInput(() => {
        const { connection, syncBatchId } = parseInput(processSyncBatchInputSchema, input, BATCH);
        return { profile: accountingFor(accounting, connection, BATCH).profile, syncBatchId };
      }),
  } satisfies Partial<MainActivities>;
}

function accountingFor(accounting: Accounting, name: string = DEFAULT_CONNECTION, what: string) {
  const runtime = accounting.get(name);
  if (runtime) return runtime;
  const known = [...accounting.keys()].map((one) => `"${one}"`).join(", ") || "none";
  const expected = `expected a configured accounting connection (${known})`;
  throw new InvalidInputError(what, [`connection: ${expected}, found "${name}"`]);
}

function withoutAccounting(name: string, known: readonly string[]): NotCompared {
  if (known.length === 0) {
    return {
      kind: "not-compared",
      why: "no-accounting-service",
      reason: "The worker has no connection to an accounting service.",
      nextStep: "Configure one (ACCOUNTING_BASE_URL, ACCOUNTING_API_KEY), and synchronise its bill payments.",
    };
  }
  return {
    kind: "not-compared",
    why: "no-accounting-connection",
    reason: `No connection to the accounting service is called "${name}" (configured: ${known.join(", ")}), and none was named.`,
    nextStep: "Name the one whose payments pay the bills of this business: COMPLIANCE_RECONCILE_ACCOUNTING.",
  };
}
