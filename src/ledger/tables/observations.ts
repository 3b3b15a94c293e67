import type { ColumnType, Generated } from "kysely";

import type { Json } from "./columns.ts";

interface ObservationsTable {
  service: "compliance" | "accounting";
  connection: string;
  /** `-` for none. */
  business_id: string;
  kind: string;
  subject: string;
  /** The value of the setting when it was seen, as JSON; empty where the subject is no setting. */
  value: string;
  message: string;
  count: ColumnType<string, number, number>;
  first_seen_at: Generated<Date>;
  last_seen_at: Generated<Date>;
}

interface StockBranchHoldsTable {
  connection: string;
  /** `-` for none. */
  business_id: string;
  /** The name and the form under which the dialect sends the branch: another dialect is not held. */
  sent_as: string;
  asked: string;
  answered: string;
  /** The movement whose answer named the other branch. */
  reference_id: string;
  held_at: Generated<Date>;
  /** The word of the person who looked; null while nobody has. */
  looked_at: Json;
}

/** What answers have shown that does not fit the dialect. */
export interface ObservationTables {
  observations: ObservationsTable;
  stock_branch_holds: StockBranchHoldsTable;
}
