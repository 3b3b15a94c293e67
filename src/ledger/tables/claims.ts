import type { ColumnType, Generated } from "kysely";

import type { MovementPurpose } from "../../contract/index.ts";
import type { Json, OfBusiness, Written } from "./columns.ts";

/** Exact in the database; `pg` gives it as text, so that it stays so. */
type NullableNumeric = ColumnType<string | null, number | string | null, number | string | null>;
/** `bigint`; far below 2^53. */
type NullableOrder = ColumnType<string | null, unknown, unknown>;

/** The claim of a call that is sent at most once for each try. */
interface ClaimColumns<State extends string> extends Written {
  generation: number;
  /** Null where nothing was ever sent under this generation. */
  token: string | null;
  /** Every try that ever took it: its generation, a space, its token. */
  taken_by: ColumnType<string[], unknown, unknown>;
  /** The execution of that try which holds it, or held it; null where nothing was ever sent. */
  execution: string | null;
  /** Until then that execution may be at its call; null once it has ended. */
  under_way_until: ColumnType<Date | null, unknown, unknown>;
  state: "held" | "buried" | State;
  taken_at: Date;
  /** As the service answered it; null while unknown, and where an operator alone has decided. */
  outcome: Json;
  decision: Json;
  /** Two words about one call that cannot both be true; the events have both. */
  disputed: Generated<boolean>;
}

/**
 * Stock movements, a row each: what it is, its claim, what the service answered, and what an operator decided. Another
 * run than the one that sent it may write it last.
 */
export interface MovementsTable extends OfBusiness, ClaimColumns<"applied" | "not-applied"> {
  reference_id: string;
  /** The document that it belongs to; null where nobody ever took it. */
  type: "sale" | "credit_note" | null;
  number: string | null;
  purpose: MovementPurpose | null;
  /** The reference of the movement that it gives back. */
  undoes: string | null;
  item_id: string | null;
  action: "ADD" | "DEDUCT" | null;
  quantity: NullableNumeric;
  unit_price: NullableNumeric;
  branch: string | null;
  /** The order of takes and settlements among all movements, whatever the clocks of the hosts say. */
  taken_order: NullableOrder;
  settled_order: NullableOrder;
  /** Of the outcome, to find balances by: the database reads them out of it. */
  branch_id: ColumnType<string | null, never, never>;
  quantity_on_hand: ColumnType<string | null, never, never>;
}

export interface SyncBatchesTable extends ClaimColumns<"processed" | "not-processed"> {
  connection: string;
  sync_batch_id: string;
}
