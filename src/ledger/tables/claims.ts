import type { ColumnType, Generated } from "kysely";

import type { MovementPurpose } from "../../contract/index.ts";
import type { Json, OfBusiness, Written } from "./columns.ts";

/** Exact in the database; `pg` gives it as text, so that it stays so. */
type NullableNumeric = ColumnType<string | null, number | string | null, number | string | null>;
/** `bigint`; far below 2^53. */
type NullableOrder = ColumnType<string | null, unknown, unknown>;

/**
 * Stock movements, a row each: what it is, its claim, what the service answered, and what an operator decided. Another
 * run than the one that sent it may write it last.
 */
export interface MovementsTable extends OfBusiness, Written {
  reference_id: string;
  /** The document that it belongs to; null where nobody ever took it. */
  type: "sale" | "credit_note" | null;
  number: string | null;
  purpose: MovementPurpose | null;
  /** The reference of the movement that it gives back. */
  undoes: string | null;
  generation: number;
  /** Null where nothing was ever sent under this generation. */
  token: string | null;
  /** Every try that ever took it: its generation, a space, its token. */
  taken_by: ColumnType<string[], unknown, unknown>;
  /** The execution of that try which holds it, or held it; null where nothing was ever sent. */
  execution: string | null;
  /** Until then that execution may be at its call; null once it has ended. */
  under_way_until: ColumnType<Date | null, unknown, unknown>;
  state: "held" | "applied" | "not-applied" | "buried";
  item_id: string | null;
  action: "ADD" | "DEDUCT" | null;
  quantity: NullableNumeric;
  unit_price: NullableNumeric;
  branch: string | null;
  taken_at: Date;
  /** The order of takes and settlements among all movements, whatever the clocks of the hosts say. */
  taken_order: NullableOrder;
  settled_order: NullableOrder;
  /** As the service answered it; null while unknown, and where an operator alone has decided. */
  outcome: Json;
  /** Of the outcome, to find balances by. */
  branch_id: string | null;
  quantity_on_hand: NullableNumeric;
  decision: Json;
  /** Two words about one movement that cannot both be true; the events have both. */
  disputed: Generated<boolean>;
}
