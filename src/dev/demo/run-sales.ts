import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { areSettled, plainLine, type Stage, type WorkflowState } from "../../contract/index.ts";
import { saleKeyOf } from "../../starter/sale-key.ts";
import type { Example } from "./plan.ts";
import type { DemoStack } from "./start-demo-stack.ts";

/** A query costs the sale no history. */
const LOOK_EVERY_MS = 200;
/** Without a worker nobody answers. */
const ANSWER_MS = 3_000;
/** The slowest example takes some five seconds; whatever is not done by then hangs. */
const DEADLINE_MS = 120_000;

/** Where one sale of the demo stands. */
export interface SaleProgress {
  readonly example: Example;
  readonly workflowId: string;
  /** `starting` until the workflow has its first stage. */
  readonly stage: Stage | "starting";
  /** In words: what it waits for. */
  readonly waitingFor: string;
  readonly startedAtMs: number;
  /** Set once nothing more will happen to it in the demo. */
  readonly endedAtMs?: number;
  /** The latest state of the workflow. */
  readonly state?: WorkflowState;
  /** Why it ended otherwise than it should have. */
  readonly problem?: string;
}

/**
 * Starts every example at once and follows each to its end, or for two minutes. A worker that is stopped and started
 * again meanwhile is no concern of this: it goes on asking.
 * @param options.onChange called on every change, with all sales in the order of the examples
 * @throws the signal's reason, or what made a worker fail
 */
export async function runSales(
  stack: DemoStack,
  options: { onChange?: (sales: readonly SaleProgress[]) => void; signal?: AbortSignal } = {},
): Promise<SaleProgress[]> {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
  // Each sale listens to it: that is many, and no leak.
  setMaxListeners(0, signal);
  const sales = stack.plan.examples.map((example): SaleProgress => {
    const workflowId = stack.starter.workflowId(saleKeyOf(example.input));
    return { example, workflowId, stage: "starting", waitingFor: "its start", startedAtMs: Date.now() };
  });
  const follow = (sale: SaleProgress, index: number): Promise<void> => {
    const update = (change: Partial<SaleProgress>): void => {
      sales[index] = { ...sale, ...sales[index], ...change };
      options.onChange?.([...sales]);
    };
    return stack.client.withAbortSignal(signal, () => followSale(stack, sale.example, { signal, update }));
  };
  try {
    await Promise.race([Promise.all(sales.map(follow)), stack.workers.failed]);
    return sales;
  } finally {
    stop.abort();
  }
}

/** Starts one sale, refunds it where the plan says so, and tells of every change until it has ended. */
async function followSale(
  stack: DemoStack,
  example: Example,
  { signal, update }: { signal: AbortSignal; update: (change: Partial<SaleProgress>) => void },
): Promise<void> {
  const { starter, client } = stack;
  const { input, refund, expected } = example;
  const key = saleKeyOf(input);
  const untilMs = Date.now() + DEADLINE_MS;
  let refunded: Promise<unknown> | undefined;
  const isOver = async (workflowId: string): Promise<boolean> =>
    (await client.workflow.getHandle(workflowId).describe()).status.name !== "RUNNING";
  try {
    await starter.startSale(input);
    for (;;) {
      const asked = client.withDeadline(Date.now() + ANSWER_MS, () => starter.getSale(key));
      const state = await asked.catch(() => signal.throwIfAborted());
      if (state) {
        const { stage, waitingFor, attentions, stockMovements } = state;
        update({ state, stage, waitingFor });
        const [attention] = attentions;
        if (attention && attention.code !== expected.attention)
          throw new Error(`needs an operator: ${attention.code}: ${attention.message}`);
        const isAsMeant =
          stage === expected.stage && (attention || (!expected.attention && areSettled(stockMovements)));
        // The goods of a credit note are taken back after it is signed.
        if (isAsMeant && (!refund || (await isOver(starter.workflowId(key))))) {
          update({ endedAtMs: Date.now(), waitingFor: "nothing" });
          return;
        }
        if (stage === "completed" && refund) refunded ??= starter.refund(key, refund);
        refunded?.catch(() => undefined);
      } else update({ waitingFor: "a worker that answers" });
      if (Date.now() > untilMs) throw new Error("has not ended in time");
      const pause = sleep(LOOK_EVERY_MS, undefined, { signal });
      // A refund that is refused ends the wait.
      await (refunded ? Promise.race([pause, refunded.then(() => pause)]) : pause);
    }
  } catch (error) {
    signal.throwIfAborted();
    update({ endedAtMs: Date.now(), problem: error instanceof Error ? error.message : String(error) });
  }
}

/** A stream that may be a terminal; `process.stdout` is one. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** What shows the sales on every change: a table that stays in its place, at a terminal that has room for it. */
export function saleWatch(screen: Screen): (sales: readonly SaleProgress[]) => void {
  const log = saleLog(screen);
  let drawn = 0;
  return (sales) => {
    if (!screen.isTTY || sales.length >= (screen.rows ?? 0)) {
      log(sales);
      return;
    }
    // A line that breaks would be two.
    const lines = sales.map((sale) => saleLine(sale, sales).slice(0, (screen.columns ?? 80) - 1));
    const toItsHead = drawn === 0 ? "" : `\u001b[${drawn}A`;
    screen.write(toItsHead + lines.map((line) => `\u001b[2K${line}\n`).join(""));
    drawn = lines.length;
  };
}

/** Writes a line for each change of a sale's stage: what it waits for changes more often than anybody wants to read. */
function saleLog(screen: Screen): (sales: readonly SaleProgress[]) => void {
  const shown = new Map<string, string>();
  return (sales) => {
    for (const sale of sales) {
      const change = `${sale.stage} ${sale.endedAtMs}`;
      if (sale.stage === "starting" || shown.get(sale.workflowId) === change) continue;
      shown.set(sale.workflowId, change);
      screen.write(`${saleLine(sale, sales)}\n`);
    }
  };
}

const STAGE_WIDTH = "awaiting-authority".length;

/** What the example shows, its stage, the seconds, and what the sale waits for or has come to. */
export function saleLine(sale: SaleProgress, all: readonly SaleProgress[]): string {
  const { example, stage, startedAtMs, endedAtMs, waitingFor, problem } = sale;
  const width = (of: (one: SaleProgress) => string): number => Math.max(...all.map((one) => of(one).length));
  const isOpen = endedAtMs === undefined;
  const isGood = problem === undefined && stage === example.expected.stage;
  const cells = [
    isOpen ? "·" : isGood ? "✔" : "✖",
    example.invoice.padEnd(width((one) => one.example.invoice)),
    example.title.padEnd(width((one) => one.example.title)),
    stage.padEnd(STAGE_WIDTH),
    `${(((endedAtMs ?? Date.now()) - startedAtMs) / 1_000).toFixed(1)} s`.padStart(6),
    isOpen ? `waits for ${waitingFor}` : outcomeOf(sale),
  ];
  return plainLine(cells.join("  ")).trimEnd();
}

/** The receipts, or what an operator has to do. */
function outcomeOf({ problem, example: { expected }, state }: SaleProgress): string {
  if (problem !== undefined) return problem;
  const receipts = [state?.document?.receipt, state?.creditNote?.receipt].flatMap((receipt) =>
    receipt ? [`${receipt.receiptLabel ?? ""} ${receipt.receiptNumber}`.trim()] : [],
  );
  const attention = expected.attention === undefined ? [] : [`needs an operator, as meant: ${expected.attention}`];
  return [...receipts, ...attention].join(", ");
}
