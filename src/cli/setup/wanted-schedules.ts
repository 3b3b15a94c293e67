import { createHash } from "node:crypto";

import { parseDialect } from "../../compliance/index.ts";
import type { AccountingConnection, ComplianceConnection, Config, SyncIntervals } from "../../config/index.ts";
import {
  reconcileWorkflowId,
  SCHEDULE_PREFIX,
  type ScheduledInput,
  scheduleId,
  syncBillPaymentsWorkflowId,
  syncPurchasesWorkflowId,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";

/** A Schedule as the configuration wants it. */
export interface WantedSchedule {
  id: string;
  everyMs: number;
  /**
   * Within the interval, so that the Schedules of many businesses, which share one request budget, do not all come at
   * once. Derived from the id alone, so that it stays where it is when another business is added.
   */
  offsetMs: number;
  input: ScheduledInput;
}

/** What is not scheduled, and why. */
export interface NotScheduled {
  what: string;
  why: string;
}

export interface Wanted {
  schedules: WantedSchedule[];
  notScheduled: NotScheduled[];
  /** Beginnings of the ids that this configuration speaks for: what else begins so, and is not wanted, is an orphan. */
  speaksFor: string[];
}

const NO_BUSINESS_KNOWN =
  "it serves any business, and none is named: set COMPLIANCE_BUSINESS_ID, or name some in COMPLIANCE_BUSINESSES beside *";
const OFF = "the interval is off";

/** A service that is not configured here is not mentioned: another process may know of it. */
export function wantedSchedules({ compliance, accounting }: Pick<Config, "compliance" | "accounting">): Wanted {
  const wanted: Wanted = { schedules: [], notScheduled: [], speaksFor: [] };
  if (compliance.length > 0) wanted.speaksFor.push(`${SCHEDULE_PREFIX}sync-purchases/`, `${SCHEDULE_PREFIX}reconcile/`);
  if (accounting.length > 0) wanted.speaksFor.push(`${SCHEDULE_PREFIX}sync-bill-payments/`);
  for (const connection of compliance) {
    addPurchases(wanted, connection);
    addReconciliation(wanted, connection);
  }
  for (const connection of accounting) addBillPayments(wanted, connection);
  return wanted;
}

function addPurchases(wanted: Wanted, { name, businesses, purchases, dialect }: ComplianceConnection): void {
  const what = `purchases of connection ${name}`;
  if (businesses.length === 0) {
    wanted.notScheduled.push({ what, why: NO_BUSINESS_KNOWN });
  } else if (parseDialect(dialect ?? {}).purchases.cursor === null) {
    const why = "the dialect has no name for the cursor (purchases.cursor), so only a first page can be read";
    wanted.notScheduled.push({ what, why });
  } else {
    const syncs = businesses.map((businessId) => {
      const input = { connection: name, businessId };
      return { workflow: WORKFLOW_TYPES.syncPurchases, workflowId: syncPurchasesWorkflowId(input), input };
    });
    addIntervals(wanted, what, syncs, purchases);
  }
}

function addReconciliation(wanted: Wanted, { name, businesses, reconcile }: ComplianceConnection): void {
  const what = `the reconciliation of connection ${name}`;
  if (businesses.length === 0) wanted.notScheduled.push({ what, why: NO_BUSINESS_KNOWN });
  else if (reconcile.everyMs === null) wanted.notScheduled.push({ what, why: OFF });
  else {
    for (const businessId of businesses) {
      const input = { connection: name, businessId };
      const workflowId = reconcileWorkflowId(input);
      const run = { workflow: WORKFLOW_TYPES.reconcile, workflowId, input, ifRunning: "skip" as const };
      wanted.schedules.push(scheduleOf("all", reconcile.everyMs, run));
    }
  }
}

function addBillPayments(wanted: Wanted, { name, billPayments }: AccountingConnection): void {
  const workflowId = syncBillPaymentsWorkflowId(name);
  const sync = { workflow: WORKFLOW_TYPES.syncBillPayments, workflowId, input: { connection: name } };
  addIntervals(wanted, `bill payments of connection ${name}`, [sync], billPayments);
}

function addIntervals(
  wanted: Wanted,
  what: string,
  syncs: readonly Omit<ScheduledInput, "ifRunning">[],
  { latestEveryMs, fullEveryMs }: SyncIntervals,
): void {
  if (latestEveryMs === null) wanted.notScheduled.push({ what: `the latest ${what}`, why: OFF });
  else {
    const latest = syncs.map((sync) => scheduleOf("latest", latestEveryMs, { ...sync, ifRunning: "skip" }));
    wanted.schedules.push(...latest);
  }
  if (fullEveryMs === null) wanted.notScheduled.push({ what: `all ${what}`, why: OFF });
  else {
    const full = syncs.map((sync) => {
      const input = { ...sync.input, full: true };
      return scheduleOf("full", fullEveryMs, { ...sync, input, ifRunning: "wait" });
    });
    wanted.schedules.push(...full);
  }
}

function scheduleOf(which: string, everyMs: number, input: ScheduledInput): WantedSchedule {
  const id = scheduleId(input.workflowId, which);
  const hash = createHash("sha256").update(id).digest().readUInt32BE(0);
  // In whole seconds: Temporal keeps no finer ones for long intervals.
  return { id, everyMs, offsetMs: (hash % Math.floor(everyMs / 1_000)) * 1_000, input };
}
