import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { SaleOutcome } from "../../../src/contract/index.ts";
import type { Books } from "../../../src/dev/simulator/index.ts";
import "../../rig/quiet-runtime.ts";
import { type Replays, replayHistories } from "../../rig/replay-all.ts";
import type { StormRecord } from "../drive/storm.ts";
import type { FaultStack } from "../stack/fault-stack.ts";
import { type Chronicle, readChronicles } from "./chronicle.ts";
import { type KeptLedger, readLedger } from "./kept-ledger.ts";

const BUILT_BUNDLE = { codePath: fileURLToPath(new URL("../../../dist/workflow-bundle.cjs", import.meta.url)) };

/** All that is known afterwards. The books are the truth; everything else is held against them. */
export interface Evidence {
  readonly storm: StormRecord;
  readonly books: Books;
  readonly chronicles: readonly Chronicle[];
  /** Of all histories, by the workflows as they are built. */
  readonly replays: Replays;
  readonly ledger: KeptLedger;
  /** Lines of the processes' logs that hold a secret. */
  readonly logsWithSecrets: readonly string[];
  readonly endedByThemselves: readonly string[];
}

export async function gatherEvidence(stack: FaultStack, storm: StormRecord): Promise<Evidence> {
  const { client, dataConverter, hidden } = stack;
  const chronicles = await readChronicles(client, hidden);
  const replays = await replayHistories(client, BUILT_BUNDLE, undefined, dataConverter);
  await keepMetrics(stack);
  await stack.stopProcesses();
  const logsWithSecrets = await linesWithSecrets(stack.folder, hidden);
  const books = stack.simulator.books();
  const ledger = await readLedger(stack);
  return { storm, books, chronicles, replays, ledger, logsWithSecrets, endedByThemselves: stack.endedByThemselves() };
}

/** The outcome with which a workflow ended; undefined where it did not. */
export function outcomeOf(chronicle: Chronicle | undefined): SaleOutcome | undefined {
  return chronicle?.status === "COMPLETED" ? (chronicle.result as SaleOutcome) : undefined;
}

/** Beside the logs, to be searched as they are. @throws where a process that serves them has none */
async function keepMetrics({ folder, metricsUrls }: FaultStack): Promise<void> {
  for (const [seat, url] of metricsUrls.entries()) {
    const metrics = await textAt(url);
    if (!metrics.includes("fiscalflow_")) throw new Error(`${url} has no metrics of ours: ${metrics.slice(0, 500)}`);
    await writeFile(join(folder, `metrics-${seat}.log`), metrics);
  }
}

const START_MS = 20_000;
const LOOK_MS = 200;

/** Also of a process that is just starting again. */
async function textAt(url: string): Promise<string> {
  const deadlineMs = Date.now() + START_MS;
  for (;;) {
    try {
      return await (await fetch(url)).text();
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
      await delay(LOOK_MS);
    }
  }
}

async function linesWithSecrets(folder: string, secrets: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const logs = (await readdir(folder)).filter((file) => file.endsWith(".log"));
  if (logs.length === 0) throw new Error(`There is no log in ${folder} to be searched.`);
  for (const name of logs) {
    const lines = (await readFile(join(folder, name), "utf8")).split("\n");
    for (const [index, line] of lines.entries())
      if (secrets.some((secret) => line.includes(secret))) found.push(`${name}:${index + 1} holds a secret`);
  }
  return found;
}
