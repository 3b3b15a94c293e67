import type { MainActivities, NotCompared } from "../../src/contract/index.ts";
import {
  InvalidInputError,
  parseInput,
  reconcileInputSchema,
  registerItemsInputSchema,
  syncPurchasesInputSchema,
} from "../../src/contract/schema/index.ts";
import { type ComplianceRuntime, runtimeOf } from "../compliance/calls.ts";
import { failOnInvalidInput, profileFor } from "./prepare.ts";

const ITEMS = "input of the registration";
const RECONCILE = "input of the reconciliation";
const PURCHASES = "input of the synchronisation";

/**
 * As the preparations of documents: what is wrong with the input fails the workflow once, with all problems in one
 * text.
 */
export function createJobPreparations(
  connections: ReadonlyMap<string, ComplianceRuntime>,
  accounting: ReadonlyMap<string, unknown>,
) {
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
        const { reconcile: configured } = runtimeOf({ connections }, profile.connection);
        const name = wanted.accounting ?? configured.accounting ?? profile.connection;
        if (wanted.accounting !== undefined && !accounting.has(name)) {
          throw new InvalidInputError(RECONCILE, [
            `accounting: expected a configured connection of the accounting service (${known.join(", ") || "none"}), found "${name}"`,
          ]);
        }
        const rule = { ...configured.rule, ...wanted.rule };
        return { profile, accounting: accounting.has(name) ? name : withoutAccounting(name, known), rule };
      }),

    prepareSyncPurchases: async ({ input }) =>
      failOnInvalidInput(() => {
        const sync = parseInput(syncPurchasesInputSchema, input ?? {}, PURCHASES);
        const profile = profileFor(connections, sync, PURCHASES);
        const names = connections.get(profile.connection)?.dialect.purchases;
        if (sync.from !== undefined) {
          if (names?.from === null) {
            const why = "the dialect has no name for the from date (purchases.from), so the API cannot be asked for it";
            throw new InvalidInputError(PURCHASES, [`from: expected nothing, since ${why}; found "${sync.from}"`]);
          }
          return { profile, kind: "window", from: sync.from };
        }
        // Without names to ask for what may still change, or for what has changed, only the whole list shows it.
        const full = sync.full === true || [names?.status, names?.from, names?.to].includes(null);
        return { profile, kind: full ? "full" : "recent" };
      }),
  } satisfies Partial<MainActivities>;
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
    nextStep:
      "Name the one whose payments pay the bills of this business: COMPLIANCE_RECONCILE_ACCOUNTING, or --accounting NAME for once.",
  };
}
