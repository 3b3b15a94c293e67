import type { AuthorityStep } from "../../../src/dev/simulator/index.ts";
import type { Chance } from "./chance.ts";
import type { OperationName } from "./disturbances.ts";
import type { PlannedSale, ShapeName } from "./planned-sale.ts";

/** What makes a shape: everything that differs from a sale that is accepted at once. */
export interface Shape {
  readonly name: ShapeName;
  /** How often it comes, beside the others. */
  readonly weight: number;
  /** The calls that it makes for certain, besides reading the items, creating the document and moving the stock. */
  readonly also: readonly OperationName[];
  readonly lines: "one" | "one-item-twice" | "several";
  readonly ownItem?: "not-registered" | "lacks-data";
  readonly callback: "auto" | "off";
  readonly stock?: "on-completion";
  readonly connection?: "unkeyed";
  readonly refund?: { when: "at-once" | "when-completed" | "after-its-window"; restock: boolean };
  readonly onRejection: PlannedSale["onRejection"];
  readonly ends: PlannedSale["ends"];
  authority(chance: Chance): readonly AuthorityStep[];
}

const accept: AuthorityStep = { do: "accept" };
const no = { do: "reject", reason: "The authority does not like it" } as const satisfies AuthorityStep;

function later(chance: Chance): AuthorityStep {
  const status = chance.pick(["pending", "ready_to_submit", "retrying"] as const);
  return { do: "accept", afterMs: chance.whole(200, 3_000), status };
}

function noLater(chance: Chance): AuthorityStep {
  return { ...no, afterMs: chance.whole(200, 1_500) };
}

const plain = {
  weight: 2,
  also: [],
  lines: "one",
  callback: "auto",
  onRejection: "retry",
  ends: "completed",
  authority: () => [accept],
} as const satisfies Omit<Shape, "name">;

export const SHAPES: readonly Shape[] = [
  { ...plain, name: "accepted-at-once", weight: 3 },
  {
    ...plain,
    name: "completed-later-with-callback",
    also: ["readSale"],
    weight: 4,
    authority: (chance) => [later(chance)],
  },
  {
    ...plain,
    name: "completed-later-without-callback",
    also: ["readSale"],
    weight: 3,
    callback: "off",
    authority: (chance) => [later(chance)],
  },
  {
    ...plain,
    name: "rejected-then-accepted",
    also: ["retry"],
    weight: 3,
    authority: (chance) => [chance.pick([no, noLater(chance)]), chance.pick([accept, later(chance)])],
  },
  {
    ...plain,
    name: "rejected-without-document",
    weight: 1,
    authority: () => [{ ...no, withoutDocument: true }, accept],
  },
  {
    ...plain,
    name: "rejected-until-an-operator-retries",
    also: ["retry"],
    // Twice by itself, then an operator.
    authority: (chance) => [noLater(chance), no, no, no, chance.pick([accept, later(chance)])],
  },
  {
    ...plain,
    name: "rejected-for-ever",
    also: ["retry"],
    onRejection: "cancel",
    ends: "cancelled",
    authority: (chance) => [chance.pick([no, noLater(chance)]), no],
  },
  { ...plain, name: "item-not-registered", also: ["registerItem"], weight: 4, ownItem: "not-registered" },
  { ...plain, name: "item-lacks-data", also: ["registerItem"], weight: 1, ownItem: "lacks-data" },
  {
    ...plain,
    name: "cancelled-by-authority",
    also: ["readSale"],
    ends: "cancelled",
    authority: (chance) => [{ do: "cancel", afterMs: chance.whole(300, 2_000) }],
  },
  { ...plain, name: "in-flight-for-ever", weight: 1, also: ["retry"], authority: () => [{ do: "down" }, accept] },
  { ...plain, name: "two-lines-of-one-item", lines: "one-item-twice" },
  { ...plain, name: "several-items", lines: "several" },
  {
    ...plain,
    name: "refunded-when-completed",
    also: ["creditNote"],
    ends: "credited",
    refund: { when: "when-completed", restock: false },
    authority: (chance) => [chance.pick([accept, later(chance)])],
  },
  {
    ...plain,
    name: "refunded-and-restocked",
    also: ["creditNote"],
    lines: "several",
    ends: "credited",
    refund: { when: "at-once", restock: true },
    authority: (chance) => [chance.pick([accept, later(chance)])],
  },
  {
    ...plain,
    name: "refunded-after-its-window",
    also: ["creditNote"],
    ends: "credited",
    refund: { when: "after-its-window", restock: true },
  },
  { ...plain, name: "on-completion", stock: "on-completion", authority: (chance) => [later(chance)] },
  {
    ...plain,
    name: "without-idempotency-key",
    connection: "unkeyed",
    authority: (chance) => [chance.pick([accept, later(chance)])],
  },
];
