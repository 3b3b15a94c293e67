import { type RawBuilder, sql } from "kysely";

import {
  type AppliedMovement,
  type DecidedApplied,
  decimalText,
  type MovementOrigin,
  type MovementOutcome,
  type StockAction,
} from "../../contract/index.ts";
import { type AtMostOnceClaim, type AtMostOnceTable, claimIn, type ClaimRow } from "../claims/at-most-once.ts";
import type { Columns } from "../claims/claim.ts";
import { LedgerError } from "../errors.ts";
import { type Business, businessColumns, canonicalJson } from "../events/chain.ts";
import { storableText } from "../storable-text.ts";
import type { RowOf } from "../tables.ts";

export interface MovementKey extends Business {
  referenceId: string;
}

export interface ClaimedMovement {
  itemId: string;
  action: StockAction;
  quantity: number;
  unitPrice: number;
  /** As it is sent; absent: the business's first. */
  branch?: string | undefined;
}

export type StockRow = RowOf<"movements">;

/** The order of takes and settlements among all movements, whatever the clocks of the hosts say. */
const nextOrder = sql`nextval('movement_order')`;

export const MOVEMENTS: AtMostOnceTable<AppliedMovement | DecidedApplied> = {
  table: "movements",
  kind: "movement-",
  noun: "movement",
  idColumn: "reference_id",
  columnsOfCall: ["type", "number", "purpose", "undoes", "item_id", "action", "quantity", "unit_price", "branch"],
  done: "applied",
  notDone: "not-applied",
  decided: (decision) => ({ kind: "decided-applied", decision }),
  answerId: (outcome) => ("movementId" in outcome ? outcome.movementId : undefined),
  whenTaken: { taken_order: nextOrder, settled_order: null },
  whenSettled: { settled_order: nextOrder },
};

export function movementClaim(key: MovementKey): AtMostOnceClaim<AppliedMovement | DecidedApplied> {
  return claimIn(MOVEMENTS, { owner: businessColumns(key), chain: key, id: key.referenceId });
}

/** @throws LedgerError for a movement that could not be compared with what was claimed */
export function movementColumns(movement: ClaimedMovement) {
  for (const name of ["quantity", "unitPrice"] as const) {
    if (!Number.isFinite(movement[name]))
      throw new LedgerError(`A movement's ${name} is a finite number, not ${movement[name]}.`);
  }
  return {
    item_id: storableText(movement.itemId),
    action: movement.action,
    quantity: decimalText(movement.quantity),
    unit_price: decimalText(movement.unitPrice),
    branch: movement.branch === undefined ? null : storableText(movement.branch),
  };
}

export function originColumns({ type, number, purpose, undoes }: MovementOrigin): Columns {
  const of = { type, number: storableText(number), purpose };
  return { ...of, undoes: undoes === undefined ? null : storableText(undoes) };
}

/** Undefined for a closed claim if nothing was ever taken. */
export function movementOf(row: ClaimRow | StockRow): ClaimedMovement | undefined {
  const { item_id, action, quantity, unit_price, branch } = row as StockRow;
  if (item_id === null || action === null) return undefined;
  return {
    itemId: item_id,
    action,
    quantity: Number(quantity),
    unitPrice: Number(unit_price),
    ...(branch === null ? {} : { branch }),
  };
}

export function isSameMovement(one: ClaimedMovement, other: ClaimedMovement): boolean {
  return canonicalJson(movementColumns(one)) === canonicalJson(movementColumns(other));
}

export function outcomeOf(row: StockRow): MovementOutcome | undefined {
  return (row.outcome as MovementOutcome | null) ?? undefined;
}

/** Whether nobody can be at the call of the movement `m` any more. */
export const IS_KNOWN_OVER: RawBuilder<boolean> = sql<boolean>`coalesce(m.under_way_until < clock_timestamp(), true)`;

/** Whether the service refused the movement `m`, and did not merely put it off: it is sent again if a person says so. */
export const IS_REFUSED: RawBuilder<boolean> = sql<boolean>`(
  m.state = 'not-applied' and m.outcome is not null and m.outcome ->> 'putOff' is null)`;
