import {
  Client,
  type Connection,
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleUpdateOptions,
} from "@temporalio/client";
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

import { type Config, loadConfig } from "../../config/index.ts";
import {
  aboutWorkflow,
  MAIN_TASK_QUEUE,
  reconcileWorkflowId,
  SCHEDULE_PREFIX,
  type ScheduledInput,
  scheduleId,
  syncBillPaymentsWorkflowId,
  syncPurchasesWorkflowId,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";
import { setUpLedger } from "../../worker/ledger-of-config.ts";
import { KEYWORD, readSearchAttributes, searchAttributesUsable } from "../../worker/require-temporal.ts";
import { type ConnectedTemporal, withTemporal } from "../connect-temporal.ts";
import { type CliContext, CommandFailedError } from "../context.ts";
import { printNote, printResult } from "../output.ts";

const CALL_MS = 10_000;
const USABLE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 250;

export async function runSetup(context: CliContext, json = false): Promise<void> {
  // Before anything is connected: its problems are reported first.
  const config = loadConfig({ env: context.env });
  const wanted = wantedSchedules(config);
  const hasTables = await setUpLedger(config);
  const setUp = async ({ connection, namespace }: ConnectedTemporal): Promise<void> => {
    const { missing, ready } = await addSearchAttributes(context, connection, namespace);
    // What a Schedule holds names a connection and a business, and outlives any key: it stays plain.
    const schedules = await alignSchedules(new Client({ connection, namespace }), wanted);
    const text = [
      ...(hasTables ? ["The ledger's tables are ready."] : []),
      ...ready.map((name) => `${name}: was there`),
      ...missing.map((name) => `${name}: added`),
      ...scheduleLines(schedules, wanted),
      `The namespace "${namespace}" is ready.`,
    ];
    const { notScheduled } = wanted;
    printResult(context, json, { namespace, added: missing, present: ready, schedules, notScheduled }, text.join("\n"));
  };
  await withTemporal(context, setUp, "namespace");
}

/** Those that are missing, until queries can use them. @throws CommandFailedError */
async function addSearchAttributes(context: CliContext, connection: Connection, namespace: string) {
  const within = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
    connection.withDeadline(Date.now() + CALL_MS, call);
  const before = await within(() => readSearchAttributes(connection, namespace));
  const { missing, wrongType } = before;
  const [wrong] = wrongType;
  if (wrong) {
    const all = wrongType.map(({ name, type }) => `${name} is ${type}`).join(", ");
    throw new CommandFailedError(
      `The namespace "${namespace}" has search attributes of our names with another type, expected Keyword: ${all}. A type cannot be changed: use another namespace, or remove them if nothing uses them (temporal operator search-attribute remove --namespace ${namespace} --name ${wrong.name}).`,
    );
  }
  if (missing.length > 0) {
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
    try {
      await within(() => connection.operatorService.addSearchAttributes({ namespace, searchAttributes }));
    } catch (error) {
      // Somebody else may have run setup at the same time.
      const now = await within(() => readSearchAttributes(connection, namespace)).catch(() => before);
      if (now.missing.length > 0) throw addRefusal(error, namespace, now.missing);
    }
    printNote(context, `Added ${missing.join(", ")}; waiting until queries can use them.`);
  }
  await untilUsable(context, () => within(() => searchAttributesUsable(connection, namespace)));
  return before;
}

/** PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED. */
const NOT_FOR_US = [7, 12, 16];

/** A server that does not let us register search attributes: somebody else must. */
function addRefusal(error: unknown, namespace: string, missing: readonly string[]): unknown {
  if (!isGrpcServiceError(error)) return error;
  const attributes = missing.map((name) => `--name ${name} --type Keyword`).join(" ");
  const advice = NOT_FOR_US.includes(Number(error.code))
    ? ` Let somebody who may add them (in Temporal Cloud: in the namespace's settings): temporal operator search-attribute create --namespace ${namespace} ${attributes}`
    : "";
  const message = `Temporal did not add the search attributes ${missing.join(", ")}: ${error.details}.${advice}`;
  return new CommandFailedError(message, { cause: error });
}

async function untilUsable(context: CliContext, usable: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + USABLE_WITHIN_MS;
  while (!(await usable())) {
    if (Date.now() >= deadlineMs)
      throw new CommandFailedError(
        `The search attributes are registered, but queries cannot use them after ${USABLE_WITHIN_MS / 1_000} s. Run \`fiscalflow setup\` again in a minute.`,
      );
    await delay(LOOK_EVERY_MS, undefined, { signal: context.signal });
  }
}

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

export interface Wanted {
  schedules: WantedSchedule[];
  /** What is not scheduled, and why. */
  notScheduled: { what: string; why: string }[];
  /** Beginnings of the ids that this configuration speaks for: what else begins so, and is not wanted, is an orphan. */
  speaksFor: string[];
}

const NO_BUSINESS_KNOWN =
  "it serves any business, and none is named: set COMPLIANCE_BUSINESS_ID, or name some in COMPLIANCE_BUSINESSES beside *";
/** How often all rows are read, at most: never more often than the latest. */
const SWEEP_EVERY_MS = 24 * 60 * 60_000;
const NO_CURSOR = "the dialect has no name for the cursor (purchases.cursor), so only a first page can be read";

/** A service that is not configured here is not mentioned: another process may know of it. */
export function wantedSchedules({ compliance, accounting }: Pick<Config, "compliance" | "accounting">): Wanted {
  const schedules: WantedSchedule[] = [];
  const notScheduled: Wanted["notScheduled"] = [];
  const add = (which: string, what: string, everyMs: number | null, inputs: readonly ScheduledInput[]): void => {
    if (everyMs === null) notScheduled.push({ what, why: "the interval is off" });
    else schedules.push(...inputs.map((input) => scheduleOf(which, everyMs, input)));
  };
  for (const { name: connection, businesses, dialect, ...every } of compliance) {
    const ofPurchases = `purchases of connection ${connection}`;
    const ofReconciliation = `the reconciliation of connection ${connection}`;
    if (businesses.length === 0) {
      notScheduled.push(...[ofPurchases, ofReconciliation].map((what) => ({ what, why: NO_BUSINESS_KNOWN })));
      continue;
    }
    const inputs = businesses.map((businessId) => ({ connection, businessId }));
    const syncs = (more: { full?: true }, ifRunning: ScheduledInput["ifRunning"]): ScheduledInput[] =>
      inputs.map((input) => ({
        workflow: WORKFLOW_TYPES.syncPurchases,
        workflowId: syncPurchasesWorkflowId(input),
        input: { ...input, ...more },
        ifRunning,
      }));
    if (dialect.purchases.cursor === null) notScheduled.push({ what: ofPurchases, why: NO_CURSOR });
    else {
      add("latest", `the latest ${ofPurchases}`, every.purchasesSyncEvery, syncs({}, "skip"));
      add("full", `all ${ofPurchases}`, sweepEvery(every.purchasesSyncEvery), syncs({ full: true }, "wait"));
    }
    const reconciliations = inputs.map((input): ScheduledInput => {
      const workflowId = reconcileWorkflowId(input);
      return { workflow: WORKFLOW_TYPES.reconcile, workflowId, input, ifRunning: "skip" };
    });
    add("all", ofReconciliation, every.reconcileEvery, reconciliations);
  }
  for (const { name: connection, ...every } of accounting) {
    const what = `bill payments of connection ${connection}`;
    const sync = { workflow: WORKFLOW_TYPES.syncBillPayments, workflowId: syncBillPaymentsWorkflowId(connection) };
    const latest: ScheduledInput = { ...sync, input: { connection }, ifRunning: "skip" };
    const full: ScheduledInput = { ...sync, input: { connection, full: true }, ifRunning: "ask" };
    add("latest", `the latest ${what}`, every.billPaymentsSyncEvery, [latest]);
    add("full", `all ${what}`, sweepEvery(every.billPaymentsSyncEvery), [full]);
  }
  const speaksFor = [
    ...(compliance.length > 0 ? ["sync-purchases/", "reconcile/"] : []),
    ...(accounting.length > 0 ? ["sync-bill-payments/"] : []),
  ];
  return { schedules, notScheduled, speaksFor: speaksFor.map((beginning) => `${SCHEDULE_PREFIX}${beginning}`) };
}

function sweepEvery(syncEveryMs: number | null): number | null {
  return syncEveryMs && Math.max(syncEveryMs, SWEEP_EVERY_MS);
}

function scheduleOf(which: string, everyMs: number, input: ScheduledInput): WantedSchedule {
  const id = scheduleId(input.workflowId, which);
  const hash = createHash("sha256").update(id).digest().readUInt32BE(0);
  // In whole seconds: Temporal keeps no finer ones for long intervals.
  return { id, everyMs, offsetMs: (hash % Math.floor(everyMs / 1_000)) * 1_000, input };
}

export interface ScheduleChange {
  id: string;
  change: "created" | "repaired" | "removed" | "unchanged";
  /** An operator has paused it, and it stays so. */
  paused?: true;
}

/** A missed start is made good for so long; the next one comes anyway. */
const CATCHUP_MS = 10 * 60_000;

/**
 * Makes Temporal's Schedules what the configuration wants: creates what is missing, repairs what differs, removes what
 * nothing asks for. To be run again at any time; with `dryRun` it only says what it would do.
 */
export async function alignSchedules(
  client: Client,
  { schedules, speaksFor }: Wanted,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<ScheduleChange[]> {
  const changes: ScheduleChange[] = [];
  for (const schedule of schedules) changes.push(await alignSchedule(client, schedule, dryRun));
  const known = new Set(schedules.map(({ id }) => id));
  for await (const { scheduleId: id } of client.schedule.list()) {
    if (known.has(id) || !speaksFor.some((beginning) => id.startsWith(beginning))) continue;
    // Somebody else may have removed it meanwhile.
    if (!dryRun) await client.schedule.getHandle(id).delete().catch(unlessGone);
    changes.push({ id, change: "removed" });
  }
  return changes;
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof ScheduleNotFoundError)) throw error;
  return undefined;
}

async function alignSchedule(client: Client, schedule: WantedSchedule, dryRun: boolean): Promise<ScheduleChange> {
  const { id } = schedule;
  const handle = client.schedule.getHandle(id);
  const found = await handle.describe().catch(unlessGone);
  if (!found) {
    try {
      if (!dryRun) await client.schedule.create({ scheduleId: id, ...optionsOf(schedule) });
      return { id, change: "created" };
    } catch (error) {
      // Somebody else has made it meanwhile.
      if (error instanceof ScheduleAlreadyRunning) return await alignSchedule(client, schedule, dryRun);
      throw error;
    }
  }
  const paused = found.state.paused ? { paused: true as const } : {};
  if (isAsWanted(found, schedule)) return { id, change: "unchanged", ...paused };
  // An operator's pause and its note stay.
  if (!dryRun) await handle.update(({ state }): ScheduleUpdateOptions => ({ ...optionsOf(schedule), state }));
  return { id, change: "repaired", ...paused };
}

function optionsOf({ id, everyMs, offsetMs, input }: WantedSchedule) {
  return {
    spec: { intervals: [{ every: everyMs, offset: offsetMs }] },
    action: {
      type: "startWorkflow" as const,
      workflowType: WORKFLOW_TYPES.scheduled,
      workflowId: id,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
      ...aboutWorkflow(WORKFLOW_TYPES.scheduled, input.input, `of ${input.workflow}`),
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_MS },
  };
}

function isAsWanted({ spec, action, policies }: ScheduleDescription, wanted: WantedSchedule): boolean {
  const options = optionsOf(wanted);
  const intervals = (spec.intervals ?? []).map(({ every, offset }) => ({
    every: Number(every),
    offset: Number(offset ?? 0),
  }));
  const { workflowType, taskQueue, args } = options.action;
  return (
    isDeepStrictEqual(intervals, options.spec.intervals) &&
    ![spec.calendars, spec.skip].some((list) => (list?.length ?? 0) > 0) &&
    action.type === "startWorkflow" &&
    action.workflowType === workflowType &&
    action.taskQueue === taskQueue &&
    isDeepStrictEqual(action.args, args) &&
    policies.overlap === options.policies.overlap &&
    Number(policies.catchupWindow) === CATCHUP_MS
  );
}

export function scheduleLines(changes: readonly ScheduleChange[], { notScheduled, speaksFor }: Wanted): string[] {
  if (speaksFor.length === 0) return ["No connection is configured here: Schedules are left as they are."];
  return [
    ...changes.map(({ id, change, paused }) => {
      const what = change === "unchanged" ? "was there" : change;
      return `Schedule ${id}: ${what}${paused ? "; it is paused, and stays so" : ""}`;
    }),
    ...notScheduled.map(({ what, why }) => `No Schedule for ${what}: ${why}`),
  ];
}
