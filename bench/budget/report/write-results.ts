import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";

import type { BudgetOptions } from "../options.ts";
import type { RunResult } from "../run-once.ts";
import type { Summary } from "./medians.ts";
import { plot } from "./plot.ts";

export interface Results {
  readonly options: BudgetOptions;
  readonly summary: Summary;
  readonly runs: readonly RunResult[];
  readonly seconds: number;
}

/** `<name>.json` and `<name>.svg`. Without a path or a name of the machine: only how much of one it is. */
export async function writeResults(name: string, { options, summary, runs, seconds }: Results): Promise<string[]> {
  const { outFolder, limit, windowMs, windows, pairs, seed } = options;
  const [load] = loadavg();
  const measured = {
    at: new Date().toISOString(),
    seconds: Math.round(seconds),
    machine: { processors: cpus().length, node: process.version, loadAtTheEnd: load },
    options: { seed, runs: runs.length, windows, windowMs, limit, pairs },
    summary: { lone: summary.lone, lanes: summary.lanes.map(({ lane, figures }) => ({ lane, figures })) },
    runs,
  };
  await mkdir(outFolder, { recursive: true });
  const json = join(outFolder, `${name}.json`);
  const svg = join(outFolder, `${name}.svg`);
  await writeFile(json, `${JSON.stringify(measured, null, 2)}\n`);
  await writeFile(svg, plot(summary.lanes, limit, windowMs));
  return [json, svg];
}
