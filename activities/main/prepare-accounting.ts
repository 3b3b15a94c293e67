import {
  type AccountingProfile,
  BILL_PAYMENT_STATUSES,
  DEFAULT_CONNECTION,
  type MainActivities,
} from "../../src/contract/index.ts";
import {
  InvalidInputError,
  parseInput,
  processSyncBatchInputSchema,
  syncBillPaymentsInputSchema,
} from "../../src/contract/schema/index.ts";
import type { AccountingRuntime } from "../accounting/index.ts";
import { failOnInvalidInput } from "./prepare.ts";

const BILL_PAYMENTS = "input of the synchronisation";
const BATCH = "input of the sync batch";

/**
 * As the preparations of documents: what is wrong with the input fails the workflow once, with all problems in one
 * text.
 */
export function createAccountingPreparations(accounting: ReadonlyMap<string, AccountingRuntime>) {
  return {
    prepareSyncBillPayments: async ({ input }) =>
      failOnInvalidInput(() => {
        const sync = parseInput(syncBillPaymentsInputSchema, input ?? {}, BILL_PAYMENTS);
        const { profile, dialect } = runtimeFor(accounting, sync.connection, BILL_PAYMENTS);
        const { sortBy, sortDirection, status } = dialect.billPayments;
        if (sortBy === null || sortDirection === null) {
          const why =
            "billPayments.sortBy and billPayments.sortDirection of its dialect need names: unsorted pages miss payments";
          throw new InvalidInputError(BILL_PAYMENTS, [
            `connection: expected another one than "${profile.connection}", since ${why}`,
          ]);
        }
        return {
          profile,
          kind: sync.full === true ? "full" : "recent",
          statuses: status === null ? [] : BILL_PAYMENT_STATUSES,
        };
      }),

    prepareSyncBatch: async ({ input }) =>
      failOnInvalidInput(() => {
        const { connection, syncBatchId } = parseInput(processSyncBatchInputSchema, input, BATCH);
        return { profile: runtimeFor(accounting, connection, BATCH).profile, syncBatchId };
      }),
  } satisfies Partial<MainActivities>;
}

function runtimeFor(
  accounting: ReadonlyMap<string, AccountingRuntime>,
  name: string = DEFAULT_CONNECTION,
  what: string,
): { profile: AccountingProfile; dialect: AccountingRuntime["dialect"] } {
  const runtime = accounting.get(name);
  if (runtime) return runtime;
  const known = [...accounting.keys()].map((one) => `"${one}"`).join(", ") || "none";
  throw new InvalidInputError(what, [
    `connection: expected a configured accounting connection (${known}), found "${name}"`,
  ]);
}
