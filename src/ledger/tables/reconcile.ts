import type { Generated } from "kysely";

import type { FindingKind } from "../../contract/index.ts";
import type { EventNumber, Written } from "./columns.ts";

interface ReconcileFindingsTable extends Written {
  connection: string;
  business_id: string;
  kind: FindingKind;
  /** A document's id, a purchase's, or a bill payment's. */
  subject: string;
  reason: string;
  next_step: string;
  since: Generated<Date>;
  /** The run that has seen it last. */
  seen_by: string;
  gone_at: Date | null;
  event_number: EventNumber;
}

/** What was found not to match. */
export interface ReconcileTables {
  reconcile_findings: ReconcileFindingsTable;
}
