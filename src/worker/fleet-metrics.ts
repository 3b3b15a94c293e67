import type { Client } from "@temporalio/client";
import type { MetricGauge, MetricMeter } from "@temporalio/common";

import { ATTENTION_CODES, SCHEDULE_PREFIX, SEARCH_ATTRIBUTES, STAGES, WORKFLOW_TYPES } from "../contract/index.ts";
import { type Ledger, LedgerUnavailableError } from "../ledger/index.ts";
import { EVERY_MS, lookRegularly, type WatchLog } from "./each-minute.ts";

/** What Schedules start (docs/background-jobs.md), as their ids begin. */
const JOBS = ["sync-purchases", "sync-bill-payments", "reconcile"] as const;
/** All Schedules are listed so rarely: there are some for each business. */
const SCHEDULES_EACH = 5;

interface Watch {
  client: Pick<Client, "workflow" | "schedule">;
  ledger: Pick<Ledger, "fleet" | "answers" | "documents">;
  meter: Pick<MetricMeter, "createGauge">;
  /** Of this process, and of no other. */
  identity: string;
  log: WatchLog;
  everyMs?: number;
}

/** Numbers that are asked for together: if that fails, they alone are not known. */
interface Count {
  gauges: readonly KeptGauge[];
  ask: (signal: AbortSignal) => Promise<void>;
}

/**
 * Tells, by metrics, what is open and what waits, in all of the namespace: counted each minute by the one worker whose
 * turn it is. Where that is not this one, or where an answer is not known now, they are NaN, which is nothing to compare
 * with (docs/monitoring.md).
 * @returns what ends it
 */
export function watchFleet({ client, ledger, meter, identity, log, everyMs = EVERY_MS }: Watch): () => Promise<void> {
  const gauge = (name: string, meaning: string): KeptGauge =>
    new KeptGauge(meter.createGauge(name, "float", undefined, meaning));
  const open = gauge("fiscalflow_sales_open", "sales whose workflow is open, by stage");
  const needing = gauge("fiscalflow_workflows_needing_person", "open workflows, by what they need a person for most");
  const jobs = gauge("fiscalflow_jobs_needing_person", "open workflows of background jobs that need a person");
  const longest = gauge("fiscalflow_longest_need_seconds", "for how long the eldest sale has needed a person, by code");
  const owed = gauge("fiscalflow_answers_owed", "calls whose outcome is unknown, or not written down yet");
  const stopped = gauge(
    "fiscalflow_sales_stopped",
    "unfinished sales whose workflow has ended: nothing carries them on",
  );
  const lag = gauge("fiscalflow_schedule_lag_seconds", "for how long the next start of a Schedule is overdue");
  const up = meter.createGauge("fiscalflow_ledger_up", "int", undefined, "1 while the database takes writes");
  async function countWorkflows(signal: AbortSignal): Promise<void> {
    const count = async (query: string): Promise<number> =>
      (await client.workflow.count(`ExecutionStatus = "Running" AND ${query}`)).count;
    for (const stage of STAGES) {
      if (signal.aborted) return;
      const query = `WorkflowType = "${WORKFLOW_TYPES.sale}" AND ${SEARCH_ATTRIBUTES.stage} = "${stage}"`;
      open.set(await count(query), { stage });
    }
    for (const code of ATTENTION_CODES) {
      if (signal.aborted) return;
      needing.set(await count(`${SEARCH_ATTRIBUTES.attention} = "${code}"`), { code });
    }
    const isJob = `WorkflowType != "${WORKFLOW_TYPES.sale}"`;
    jobs.set(await count(`${isJob} AND ${SEARCH_ATTRIBUTES.attention} IS NOT NULL`), {});
  }

  async function readLedger(): Promise<void> {
    const eldest = new Map((await ledger.fleet.needsOfPersons()).map(({ code, sinceMs }) => [code, sinceMs]));
    for (const code of ATTENTION_CODES) {
      const sinceMs = eldest.get(code);
      longest.set(sinceMs === undefined ? 0 : (Date.now() - sinceMs) / 1_000, { code });
    }
    for (const [kind, count] of Object.entries(await ledger.fleet.owedAnswers())) owed.set(count, { kind });
    stopped.set(await ledger.documents.countEnded({}), {});
  }

  let looksUntilSchedules = 0;
  async function lookAtSchedules(): Promise<void> {
    if (looksUntilSchedules > 0) {
      looksUntilSchedules -= 1;
      return;
    }
    const lagMs = new Map(JOBS.map((job) => [job, 0]));
    for await (const { scheduleId, state, info } of client.schedule.list()) {
      const job = JOBS.find((one) => scheduleId.startsWith(`${SCHEDULE_PREFIX}${one}/`));
      const [next] = info.nextActionTimes;
      if (job && next && !state.paused) lagMs.set(job, Math.max(lagMs.get(job) ?? 0, Date.now() - next.getTime()));
    }
    for (const [job, ms] of lagMs) lag.set(ms / 1_000, { job });
    looksUntilSchedules = SCHEDULES_EACH - 1;
  }

  const counts: readonly Count[] = [
    { gauges: [longest, owed, stopped], ask: readLedger },
    { gauges: [open, needing, jobs], ask: countWorkflows },
    // Whether a role may list Schedules is set apart from what it may count.
    { gauges: [lag], ask: lookAtSchedules },
  ];
  function forgetAll(): void {
    counts.forEach(forget);
    // Not known until they are listed again.
    looksUntilSchedules = 0;
  }

  let isOurs = false;
  async function takeTurn(): Promise<void> {
    try {
      isOurs = await isTurnOf(ledger, identity, everyMs);
      up.set(1);
    } catch (error) {
      if (error instanceof LedgerUnavailableError) up.set(0);
      forgetAll();
      throw error;
    }
  }

  const end = lookRegularly({
    look: async (_sinceMs, signal) => {
      await takeTurn();
      if (isOurs) await askAll(counts, signal);
      else forgetAll();
      return 0;
    },
    everyMs,
    log,
    failing: "what is open cannot be counted now; it is tried again each minute",
  });
  return async () => {
    await end();
    // The next one need not wait until the turn is over.
    if (isOurs) await ledger.fleet.takeTurn("count", identity, 0).catch(() => undefined);
  };
}

/** @throws the first error of a count, after the others have been asked for too */
async function askAll(counts: readonly Count[], signal: AbortSignal): Promise<void> {
  const errors: unknown[] = [];
  for (const count of counts) {
    try {
      await count.ask(signal);
    } catch (error) {
      forget(count);
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

function forget({ gauges }: Count): void {
  for (const gauge of gauges) gauge.forget();
}

/** The next look comes before the turn is over. */
async function isTurnOf({ fleet, answers }: Watch["ledger"], identity: string, everyMs: number): Promise<boolean> {
  await answers();
  return await fleet.takeTurn("count", identity, 2.5 * everyMs);
}

/** A series of Temporal's exporter cannot be taken back: it stays as it was set last. */
class KeptGauge {
  readonly #gauge: MetricGauge;
  readonly #labels = new Map<string, Record<string, string>>();

  constructor(gauge: MetricGauge) {
    this.#gauge = gauge;
  }

  set(value: number, labels: Record<string, string>): void {
    this.#labels.set(JSON.stringify(labels), labels);
    this.#gauge.set(value, labels);
  }

  forget(): void {
    for (const labels of this.#labels.values()) this.#gauge.set(Number.NaN, labels);
  }
}
