import type { MainActivities } from "../../src/contract/index.ts";
import {
  InvalidInputError,
  parseInput,
  reconcileInputSchema,
  registerItemsInputSchema,
  syncPurchasesInputSchema,
} from "../../src/contract/schema/index.ts";
import { type ComplianceRuntime, runtimeOf } from "../compliance/runtime.ts";
import { failOnInvalidInput, profileFor } from "./prepare.ts";

const ITEMS = "input of the registration";
const RECONCILE = "input of the reconciliation";
const PURCHASES = "input of the synchronisation";

/** As the preparations of documents: what is wrong with the input fails the workflow once, with all problems in one text. */
export function createJobPreparations(
  connections: ReadonlyMap<string, ComplianceRuntime>,
  accounting: ReadonlyMap<string, unknown>,
): Pick<MainActivities, "prepareSyncPurchases" | "prepareRegisterItems" | "prepareReconcile"> {
  return {
    async prepareRegisterItems({ input }) {
      return failOnInvalidInput(() => {
        const batch = parseInput(registerItemsInputSchema, input ?? {}, ITEMS);
        const profile = profileFor(connections, batch, ITEMS);
        if (batch.force === true && connections.get(profile.connection)?.dialect.register.force === null) {
          const why = "the dialect has no name for the flag (register.force), so the API cannot be asked for it";
          throw new InvalidInputError(ITEMS, [`force: expected nothing, since ${why}; found true`]);
        }
        return { profile };
      });
    },

    async prepareReconcile({ input }) {
      return failOnInvalidInput(() => {
        const wanted = parseInput(reconcileInputSchema, input ?? {}, RECONCILE);
        const profile = profileFor(connections, wanted, RECONCILE);
        const { reconcile: configured } = runtimeOf({ connections }, profile.connection);
        const sameName = accounting.has(profile.connection) ? profile.connection : undefined;
        const name = wanted.accounting ?? configured.accounting ?? sameName;
        if (name !== undefined && !accounting.has(name)) {
          const known = [...accounting.keys()].join(", ") || "none";
          throw new InvalidInputError(RECONCILE, [
            `accounting: expected a configured connection of the accounting service (${known}), found "${name}"`,
          ]);
        }
        return {
          profile,
          ...(name !== undefined && { accounting: name }),
          rule: { ...configured.rule, ...wanted.rule },
        };
      });
    },

    async prepareSyncPurchases({ input }) {
      return failOnInvalidInput(() => {
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
      });
    },
  };
}
