import { setTimeout as delay } from "node:timers/promises";

import { cpuMsOf, residentMbOf } from "../stack/process-figures.ts";
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
