import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import type { Till } from "./lanes.ts";

export interface Load {
  /** So many, or as many as begin before this is settled. */
  readonly sales: number | Promise<unknown>;
  readonly atOnce: number;
  /** Callers who ask for the state of open sales, each five times a second. */
  readonly callers?: number;
}

export interface Throughput {
  readonly sales: number;
  readonly salesPerSecond: number;
  /** Of all sales, from the start to the end of its workflow. */
  readonly slowestMs: number;
  readonly workerCpuMsPerSale: number;
  readonly serverCpuMsPerSale: number;
  /** Of the worker, at the end. */
  readonly residentMb: number;
  readonly answersPerSecond: number;
  readonly unanswered: number;
}

const ASK_EVERY_MS = 200;

/** @param name begins the invoice numbers; no other measure on the same server has it */
export async function measure(till: Till, serverPid: number, name: string, load: Load): Promise<Throughput> {
  let sales = 0;
  let enough = false;
  const { sales: most } = load;
  if (typeof most !== "number") most.finally(() => (enough = true)).catch(() => undefined);
  let slowestMs = 0;
  const open = new Set<string>();
  let over = false;
  let answered = 0;
  let unanswered = 0;
  const caller = async (n: number): Promise<void> => {
    await delay((ASK_EVERY_MS * n) / Math.max(1, load.callers ?? 0));
    while (!over) {
      const nextAt = performance.now() + ASK_EVERY_MS;
      const invoice = [...open][Math.floor(Math.random() * open.size)];
      if (invoice !== undefined)
        await till.ask(invoice).then(
          () => (answered += 1),
          () => (unanswered += 1),
        );
      await delay(Math.max(0, nextAt - performance.now()));
    }
  };
  const seller = async (): Promise<void> => {
    while (typeof most === "number" ? sales < most : !enough) {
      const invoice = `${name}-${(sales += 1)}`;
      const begunMs = performance.now();
      await till.sell(invoice, () => open.add(invoice));
      slowestMs = Math.max(slowestMs, performance.now() - begunMs);
      open.delete(invoice);
    }
  };
  const pids = [till.pid, serverPid] as const;
  const before = await Promise.all(pids.map(cpuMsOf));
  const startedMs = performance.now();
  const callers = Array.from({ length: load.callers ?? 0 }, (_, n) => caller(n));
  await Promise.all(Array.from({ length: load.atOnce }, seller));
  const seconds = (performance.now() - startedMs) / 1_000;
  const after = await Promise.all(pids.map(cpuMsOf));
  over = true;
  await Promise.all(callers);
  const cpuPerSale = (index: 0 | 1): number => ((after[index] ?? 0) - (before[index] ?? 0)) / sales;
  return {
    sales,
    salesPerSecond: sales / seconds,
    slowestMs,
    workerCpuMsPerSale: cpuPerSale(0),
    serverCpuMsPerSale: cpuPerSale(1),
    residentMb: await residentMbOf(till.pid),
    answersPerSecond: answered / seconds,
    unanswered,
  };
}

/** Of Linux, where `/proc` counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** The processor time that a process has used so far, user and system. */
async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The second field, the name of the program, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [userTicks, systemTicks] = [Number(fields[11]), Number(fields[12])];
  return ((userTicks + systemTicks) * 1_000) / TICKS_PER_SECOND;
}

/** Memory that a process holds now. */
async function residentMbOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024);
}
