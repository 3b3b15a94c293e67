import type { ColumnType, Generated } from "kysely";

import type { ItemOutcomeKind } from "../../contract/index.ts";
import type { Written } from "./columns.ts";

interface ItemRegistrationsTable extends Written {
  connection: string;
  business_id: string;
  /** The item's id, or the name that none has. */
  item: string;
  batch_id: string;
  outcome: ItemOutcomeKind;
  name: string | null;
  needs: ColumnType<string[] | null, string | null, string | null>;
  reason: string | null;
  at: Generated<Date>;
}

/** The catalogue. */
export interface ItemTables {
  item_registrations: ItemRegistrationsTable;
}
