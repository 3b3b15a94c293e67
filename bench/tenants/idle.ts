import pg from "pg";
import { setTimeout as delay } from "node:timers/promises";

import { freePort } from "../../src/servers/start-dev-server.ts";
import { cpuMsOf, residentMbOf } from "../stack/process-figures.ts";
import type { ProductFleet } from "../stack/product-fleet.ts";
import type { BenchStack } from "../stack/start-stack.ts";

/** What a worker process takes that has nothing to do, and what Temporal and the database do for it. */
export interface IdleFigures {
  readonly residentMb: number;
  readonly cpuMsPerSecond: number;
  readonly temporalCpuMsPerSecond: number;
  readonly temporalResidentMb: number;
  /** Polls that wait at Temporal for a task. */
  readonly openPolls: number;
  /** Polls that ended without a task and were opened again, and what else was asked of Temporal. */
  readonly pollsPerSecond: number;
  readonly requestsPerSecond: number;
  readonly transactionsPerSecond: number;
  readonly databaseConnections: number;
}

/** Code is compiled, the first looks of each minute are over. */
const SETTLE_MS = 15_000;

/** @param open starts the one worker process, with these variables besides */
export async function idleFigures(
  stack: BenchStack,
  open: (env: Record<string, string>) => Promise<ProductFleet>,
  seconds: number,
): Promise<IdleFigures> {
  const metricsPort = await freePort();
  const fleet = await open({ METRICS_PORT: String(metricsPort) });
  try {
    const [pid = 0] = fleet.pids;
    const read = async () => {
      const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).then((answer) => answer.text());
      return {
        cpuMs: await cpuMsOf(pid),
        temporalCpuMs: await cpuMsOf(stack.temporalPid),
        polls: sumOf(metrics, "temporal_long_request_total"),
        requests: sumOf(metrics, "temporal_request_total"),
        openPolls: sumOf(metrics, "temporal_num_pollers"),
        database: await databaseFigures(stack.ledgerUrl),
      };
    };
    await delay(SETTLE_MS);
    const before = await read();
    const begunMs = performance.now();
    await delay(seconds * 1_000);
    const after = await read();
    const each = (from: number, to: number): number => ((to - from) * 1_000) / (performance.now() - begunMs);
    return {
      residentMb: await residentMbOf(pid),
      cpuMsPerSecond: each(before.cpuMs, after.cpuMs),
      temporalCpuMsPerSecond: each(before.temporalCpuMs, after.temporalCpuMs),
      temporalResidentMb: await residentMbOf(stack.temporalPid),
      openPolls: after.openPolls,
      pollsPerSecond: each(before.polls, after.polls),
      requestsPerSecond: each(before.requests, after.requests),
      transactionsPerSecond: each(before.database.transactions, after.database.transactions),
      databaseConnections: after.database.connections,
    };
  } finally {
    // Killed, it would keep its turn to count the fleet for longer than the next run takes, which then never counts.
    await fleet.drain();
  }
}

/** Of all series of a metric in the text form of Prometheus. */
function sumOf(metrics: string, name: string): number {
  const values = metrics
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)));
  if (values.length === 0) throw new Error(`the worker's metrics have no ${name}`);
  return values.reduce((sum, value) => sum + value, 0);
}

async function databaseFigures(url: string): Promise<{ transactions: number; connections: number }> {
  const client = new pg.Client({ connectionString: url, application_name: "bench" });
  await client.connect();
  try {
    const { rows } = await client.query<{ transactions: number; connections: number }>(
      `select xact_commit::float8 as transactions,
        (select count(*)::int from pg_stat_activity where application_name = 'fiscalflow') as connections
      from pg_stat_database where datname = current_database()`,
    );
    const [figures] = rows;
    if (!figures) throw new Error("the database knows nothing of itself");
    return figures;
  } finally {
    await client.end();
  }
}
