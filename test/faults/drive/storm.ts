import { setTimeout as delay } from "node:timers/promises";

import type { Kill } from "../plan/kill-plan.ts";
import type { PlannedSale } from "../plan/planned-sale.ts";
import type { SalePlan } from "../plan/sale-plan.ts";
import type { FaultStack } from "../stack/fault-stack.ts";
import type { Buttons, ButtonsRecord } from "./buttons.ts";
import { Callers, type CallersRecord } from "./callers.ts";
import { Cashier } from "./cashier.ts";
import type { Freezer } from "./freezer.ts";
import type { Killer } from "./killer.ts";
import type { Outages } from "./outages.ts";
import { RandomFaults, type RandomFaultsRecord } from "./random-faults.ts";
import { openWorkflows } from "./open-workflows.ts";
import { Operator, type SeenAttention } from "./operator.ts";
import { askUntilAnswered } from "./ask-until-answered.ts";
import { stuckWorkflows } from "./stuck-workflows.ts";

export interface StormOptions {
  readonly stack: FaultStack;
  readonly seed: number;
  readonly plan: SalePlan;
  /** At least so many sales; more as long as kills are left. */
  readonly sales: number;
  /** Open at the same time. */
  readonly atOnce: number;
  readonly killer?: Killer;
  readonly freezer?: Freezer;
  readonly buttons?: Buttons;
  readonly outages?: Outages;
  /** False: nothing goes wrong by chance. */
  readonly randomFaults: boolean;
  /**
   * What else happens while sales are under way; they go on being started until it is over.
   * @param share of the sales that have been started
   */
  readonly meanwhile?: (signal: AbortSignal, share: () => number) => Promise<void>;
  /** After so long without anything moving it is given up. */
  readonly patienceMs: number;
  readonly longestMs: number;
}

export interface StormRecord {
  /** By workflow id. */
  readonly sales: ReadonlyMap<string, PlannedSale>;
  readonly callers: CallersRecord;
  readonly attentions: readonly SeenAttention[];
  readonly kills: readonly Kill[];
  readonly killsLeft: number;
  readonly freezes: number;
  readonly outagesLeft: number;
  /** Undefined: nobody pressed any. */
  readonly buttons: ButtonsRecord | undefined;
  readonly randomFaults: RandomFaultsRecord | undefined;
  /** What did not come to an end, with its state. */
  readonly stuck: readonly string[];
  /** What cashier, callers and operator met that they cannot explain. */
  readonly problems: readonly string[];
  readonly tookMs: number;
}

const LOOK_MS = 700;
const TELL_EVERY_MS = 5_000;

/** Sales, faults and kills at the same time, until every sale has come to its end or nothing moves any more. */
export async function runStorm(options: StormOptions): Promise<StormRecord> {
  const { stack, plan, killer, freezer, buttons, outages } = options;
  const startedAtMs = Date.now();
  const stop = new AbortController();
  const isTouched = (workflowId: string): boolean => buttons?.isTouched(workflowId) ?? false;
  const callers = new Callers({ stack, signal: stop.signal, isTouched });
  const cashier = new Cashier({ stack, signal: stop.signal, isTouched, onStarted: (key) => callers.look(key) });
  const operator = new Operator({ stack, sales: cashier.sales, signal: stop.signal, isTouched });
  const calm = new AbortController();
  const randomFaults = options.randomFaults ? new RandomFaults(stack, options.seed) : undefined;
  const randomFaultsDone = randomFaults?.run(AbortSignal.any([calm.signal, stop.signal]));
  let meanwhileDone = false;
  const share = (): number => cashier.sales.size / options.sales;
  const beside = Promise.all([
    killer?.run(stack, share, stop.signal),
    freezer?.run(stack, share, stop.signal),
    buttons?.run(stack, share, stop.signal),
    outages?.run(stack, share, stop.signal),
    options.meanwhile?.(stop.signal, share),
  ]).finally(() => (meanwhileDone = true));
  // What is ended by a fault of the storm's own, such as a server that does not start again, would be asked for ever.
  beside.catch((error: unknown) => stop.abort(error));
  let moved = { at: Date.now(), mark: "" };
  let lastReportAtMs = 0;
  let gaveUp = false;
  for (;;) {
    const asked = askUntilAnswered(stack.client, stop.signal, () => openWorkflows(stack.client));
    const open = await asked.finally(() => stop.signal.throwIfAborted());
    cashier.look(open);
    operator.look(open);
    const more = cashier.sales.size < options.sales || !meanwhileDone;
    // Searches lag behind what was just started.
    const free = more ? Math.min(options.atOnce - open.length - cashier.busy, 4) : 0;
    for (let n = 0; n < free; n += 1) cashier.start(plan.next());
    // Once no kill is left, what is under way ends in peace: a fault by chance on a last look would only prolong it.
    if (!more) calm.abort();
    if (!more && cashier.busy === 0) await buttons?.closeWindows(stack, open, stop.signal);
    if (!more && open.length === 0) {
      // Something may have ended by the last button, and be waited for.
      const restarting = (await buttons?.restartEnded(stack, stop.signal)) ?? 0;
      if (restarting === 0 && cashier.busy === 0 && callers.waiting === 0) break;
    }

    const parked = open.filter(({ attention }) => attention !== undefined);
    const mark = [
      cashier.sales.size,
      open.map(({ workflowId, stage }) => [workflowId, stage]),
      killer?.left,
      freezer?.left,
      buttons?.left,
      outages?.left,
      callers.waiting,
    ].join();
    if (mark !== moved.mark) moved = { at: Date.now(), mark };
    const nowMs = Date.now();
    gaveUp = nowMs - moved.at > options.patienceMs || nowMs - startedAtMs > options.longestMs;
    if (gaveUp) break;
    if (nowMs - lastReportAtMs > TELL_EVERY_MS) {
      lastReportAtMs = nowMs;
      const settled = cashier.sales.size - open.filter(({ type }) => type === "sale").length;
      process.stderr.write(
        `${Math.round((nowMs - startedAtMs) / 1000)} s: ${cashier.sales.size} sales started, ${settled} settled, ${open.length} open, ${parked.length} parked; ${killer?.struck.length ?? 0} kills, ${killer?.left ?? 0} left; ${freezer?.left ?? 0} freezes and ${buttons?.left ?? 0} buttons left, ${outages?.left ?? 0} outages; ${stack.workers.filter(({ serving }) => serving).length} workers serve\n`,
      );
    }
    await delay(LOOK_MS);
  }
  calm.abort();
  const stuck = gaveUp ? await stuckWorkflows(stack.client) : [];
  stop.abort();
  await Promise.allSettled([beside, randomFaultsDone]);
  return {
    sales: cashier.sales,
    callers: callers.record,
    attentions: operator.seen,
    kills: killer?.struck ?? [],
    killsLeft: killer?.left ?? 0,
    freezes: freezer?.frozen ?? 0,
    outagesLeft: outages?.left ?? 0,
    buttons: buttons?.record,
    randomFaults: randomFaults?.record,
    stuck,
    problems: [...cashier.problems, ...callers.problems, ...operator.problems, ...(buttons?.problems ?? [])],
    tookMs: Date.now() - startedAtMs,
  };
}
