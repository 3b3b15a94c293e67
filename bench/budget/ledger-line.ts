import { setTimeout as delay } from "node:timers/promises";

import { type CuttableLine, startCuttableLine } from "../../test/rig/cuttable-line.ts";
import { freshDatabase, listenerOf, throughPort } from "../../test/rig/fresh-database.ts";
import { say } from "../stack/progress.ts";
import type { BenchStack } from "../stack/start-stack.ts";
import type { JudgedLane } from "./measure/judge-lane.ts";

/** The product's way to its database, which is cut in the middle of a phase and restored a window later. */
export interface LedgerLine {
  readonly line: CuttableLine;
  readonly env: Readonly<Record<string, string>>;
}

/** In windows since the first one that counts. */
const CUT_AT = 1.5;
const RESTORED_AT = 2.5;
/** From here on, a window after the return, the figures must be as if nothing had been. */
const BACK_AT = 4;
export const LEAST_WINDOWS = BACK_AT + 1;

export async function openLedgerLine(stack: BenchStack): Promise<LedgerLine> {
  const databaseUrl = await freshDatabase(stack.ledgerUrl);
  const line = await startCuttableLine(listenerOf(databaseUrl));
  stack.onClose(() => line.close());
  return { line, env: { LEDGER_URL: throughPort(databaseUrl, line.port) } };
}

export async function cutAndRestore(
  { line }: LedgerLine,
  fromMs: number,
  windowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const until = (windows: number): Promise<void> =>
    delay(fromMs + windows * windowMs - Date.now(), undefined, { signal });
  await until(CUT_AT);
  say("the database is away");
  line.cut();
  await until(RESTORED_AT);
  line.restore();
  say("the database is back");
}

/** Two rows of one lane: the windows that the absence touched, and those after. */
export function awayAndBack(
  judgeSpan: (fromMs: number, toMs: number) => JudgedLane,
  { fromMs, toMs, windowMs }: { fromMs: number; toMs: number; windowMs: number },
): JudgedLane[] {
  const named = (judged: JudgedLane, name: string, title: string): JudgedLane => ({
    ...judged,
    lane: { ...judged.lane, name: `${judged.lane.name}-${name}`, title },
  });
  return [
    named(
      judgeSpan(fromMs + Math.floor(CUT_AT) * windowMs, fromMs + Math.ceil(RESTORED_AT) * windowMs),
      "away",
      "interactive alone, the database away",
    ),
    named(judgeSpan(fromMs + BACK_AT * windowMs, toMs), "back", "interactive alone, the database back"),
  ];
}
