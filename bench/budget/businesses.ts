import type { ScenarioInput } from "../../src/dev/simulator/index.ts";
import { type Lane, LONE, UNLIMITED } from "./lanes.ts";

/** Whose work a lane does where nothing depends on whose it is. */
export const SHOP = "shop";
export const BIG = "big";
export const SMALL = Array.from({ length: 19 }, (_, index) => `small-${index + 1}`);

export const UNIT_PRICE = 350;
/** No limit at all, in the eyes of a lone sale. */
const NO_LIMIT = 1_000_000;

export function itemOf(businessId: string): string {
  return `item-${businessId}`;
}

/** The keys of a lane's connections; the stranger's stands behind them. */
export function keysOf({ name, keys = 1 }: Pick<Lane, "name" | "keys">): string[] {
  return Array.from({ length: keys }, (_, index) => `cmp_sk_test_bench_${name}_${index + 1}`);
}

export function strangersKeyOf({ name }: Pick<Lane, "name">): string {
  return `cmp_sk_test_bench_${name}_stranger`;
}

/** `alone`, or `keys` and `keys-2`: one connection for each key. */
export function connectionsOf({ name, keys = 1 }: Pick<Lane, "name" | "keys">): string[] {
  return Array.from({ length: keys }, (_, index) => (index === 0 ? name : `${name}-${index + 1}`));
}

export function scenarioOf(lanes: readonly Lane[]): ScenarioInput {
  const businesses = [SHOP, BIG, ...SMALL];
  return {
    applications: [
      ...lanes.map((lane) => ({
        name: lane.name,
        keys: [...keysOf(lane), strangersKeyOf(lane)].map((key) => ({ key })),
      })),
      { name: LONE, keys: keysOf({ name: LONE }).map((key) => ({ key })) },
      { name: UNLIMITED, keys: keysOf({ name: UNLIMITED }).map((key) => ({ key })), limitPerWindow: NO_LIMIT },
    ],
    businesses: businesses.map((id) => ({
      id,
      name: `Duka ${id}`,
      branches: [{ id: `branch-${id}`, authorityBhfId: "00" }],
    })),
    items: businesses.map((id) => ({ id: itemOf(id), businessId: id, name: id, unitPrice: UNIT_PRICE })),
  };
}
