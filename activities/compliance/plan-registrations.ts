import {
  type ComplianceActivities,
  isRegistered,
  type Item,
  type ItemOutcome,
  type ItemOutcomeKind,
} from "../../src/contract/index.ts";
import type { OddRow } from "../../src/http/read-body.ts";
import { currentWriter } from "../ledger/beside-calls.ts";
import { refusalOf } from "../classified-call.ts";
import { type ActivityContext, runtimeOf } from "./calls.ts";
import { readCatalogue } from "./read-catalogue.ts";

/** So many items of a catalogue are gone through at a time, however few of them are to be registered. */
const MOST_LOOKED_AT = 2_000;

export function createPlanActivities(context: ActivityContext) {
  return {
    async planRegistrations(request) {
      const { catalogue } = runtimeOf(context, request.connection);
      const { connection, businessId, batchId, items: names, after = "", most, force, notOlderThanMs } = request;
      const classified = await readCatalogue(context, request, notOlderThanMs);
      if (!classified.data) return refusalOf(classified);
      const looks = names
        ? lookUp(classified.data, names, catalogue.leftOut(businessId))
        : behind(classified.data, after).slice(0, MOST_LOOKED_AT);
      const items: { id: string; name: string | null }[] = [];
      const settled: ItemOutcome[] = [];
      let last: string | undefined;
      for (const look of looks) {
        const outcome = "kind" in look ? look : withoutCall(look, force);
        if (outcome) settled.push(outcome);
        else if ("kind" in look || items.some(({ id }) => id === look.id)) continue;
        else if (items.length < most) items.push({ id: look.id, name: look.name ?? null });
        else break;
        last = "kind" in look ? look.item : look.id;
      }
      // Repeated, it keeps the same: its rows are known by their items.
      const writer = currentWriter();
      await context.ledger.items.keep({ connection, businessId }, { batchId, outcomes: settled, writer });
      const more = !names && last !== undefined && behind(classified.data, last).length > 0;
      return {
        kind: "planned",
        items,
        settled: countsOf(settled),
        total: classified.data.length,
        next: more ? (last ?? null) : null,
      };
    },
  } satisfies Partial<ComplianceActivities>;
}

/** In an order that does not change while items come and go: by their ids. */
function behind(items: readonly Item[], after: string): Item[] {
  return items.filter(({ id }) => id > after).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function lookUp(items: readonly Item[], names: readonly string[], leftOut: readonly OddRow[]): (Item | ItemOutcome)[] {
  return names.map((name) => {
    const found = namedItem(items, name, leftOut);
    return "reason" in found ? { kind: "unknown", item: name, reason: found.reason } : found.item;
  });
}

/** What is known of an item without asking for its registration; undefined where it is to be asked for. */
function withoutCall(listed: Item, force: boolean): ItemOutcome | undefined {
  const { id, name, needs } = listed;
  const item = { item: id, name: name ?? null };
  if (isRegistered(listed)) return force ? undefined : { kind: "registered-already", ...item };
  const lacking = Object.entries(needs ?? {}).flatMap(([what, lacks]) => (lacks === true ? [what] : []));
  return lacking.length > 0 && !force ? { kind: "needs-data", ...item, needs: lacking } : undefined;
}

function countsOf(outcomes: readonly ItemOutcome[]): Partial<Record<ItemOutcomeKind, number>> {
  const counts: Partial<Record<ItemOutcomeKind, number>> = {};
  for (const { kind } of outcomes) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/**
 * The item of that id, else of that external id, else of that SKU. A name that two items have names none: nothing is
 * guessed.
 */
function namedItem(
  items: readonly Item[],
  name: string,
  leftOut: readonly OddRow[] = [],
): { item: Item } | { reason: string } {
  for (const key of ["id", "externalId", "sku"] as const) {
    const named = items.filter((item) => item[key] === name);
    const [item] = named;
    if (item && named.length === 1) return { item };
    if (item) return { reason: `${named.length} items have the ${key} "${name}"` };
  }
  const odd = leftOut.find(({ names }) => Object.values(names).includes(name));
  if (odd) return { reason: `the item "${name}" cannot be read: its field "${odd.field}" (${odd.problem})` };
  return { reason: `no item has the id, external id or SKU "${name}"` };
}
