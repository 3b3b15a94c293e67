import type { NewItem, ScenarioInput } from "../../../src/dev/simulator/index.ts";

/** Whose key reaches which businesses. */
export interface PlannedConnection {
  readonly name: "default" | "unkeyed";
  readonly businesses: readonly string[];
}

/** One key for a whole organisation. */
export const ORGANISATION: PlannedConnection = { name: "default", businesses: ["biz_1", "biz_2", "biz_3"] };
/**
 * A key bound to one business, on a service that knows no idempotency key: there a lost answer is `document-unknown`.
 */
const UNKEYED: PlannedConnection = { name: "unkeyed", businesses: ["biz_4"] };

export const CONNECTIONS: readonly PlannedConnection[] = [ORGANISATION, UNKEYED];

export interface Goods {
  readonly id: string;
  readonly stockTracked: boolean;
  readonly unitPrice: number;
}

/** What a business sells: three items of which stock is kept, and a service. */
export function goodsOf(businessId: string): readonly Goods[] {
  return [
    { id: `${businessId}_tea`, stockTracked: true, unitPrice: 350 },
    { id: `${businessId}_flour`, stockTracked: true, unitPrice: 210.5 },
    { id: `${businessId}_gas`, stockTracked: true, unitPrice: 1250.35 },
    { id: `${businessId}_delivery`, stockTracked: false, unitPrice: 200 },
  ];
}

/** The branch that some sales name; the others go to the business's first one. */
export function secondBranchOf(businessId: string): string {
  return `${businessId}_second`;
}

export function itemOf(businessId: string, goods: Goods): NewItem {
  return { ...goods, businessId, name: goods.id, sku: goods.id, onHand: {} };
}

export interface Keys {
  readonly organisation: string;
  readonly bound: string;
}

export function scenario(keys: Keys): ScenarioInput {
  const businesses = CONNECTIONS.flatMap((connection) => connection.businesses);
  return {
    applications: [
      { name: "shop", keys: [{ key: keys.organisation }] },
      { name: "unkeyed", keys: [{ key: keys.bound, businessId: "biz_4" }] },
    ],
    businesses: businesses.map((id) => ({
      id,
      name: `Duka ${id}`,
      branches: [
        { id: `${id}_branch`, authorityBhfId: "00" },
        { id: secondBranchOf(id), authorityBhfId: "01" },
      ],
    })),
    items: businesses.flatMap((id) => goodsOf(id).map((goods) => itemOf(id, goods))),
  };
}
