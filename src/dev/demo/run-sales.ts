import { setMaxListeners } from "node:events";
import { saleKeyOf } from "../../starter/sale-key.ts";
import type { SaleProgress } from "./sale-progress.ts";
import { followSale } from "./follow-sale.ts";
import type { DemoStack } from "./start-demo-stack.ts";

/** The slowest example takes some five seconds; whatever is not done by then hangs. */
const DEADLINE_MS = 120_000;

export interface RunSalesOptions {
  /** Called on every change, with all sales in the order of the examples. */
  readonly onChange?: (sales: readonly SaleProgress[]) => void;
  readonly signal?: AbortSignal;
  /** How long all of them may take together; those that take longer are given back as they stand. Default: 120,000. */
  readonly deadlineMs?: number;
}

/**
 * Starts every example at once and follows each to its end. A worker that is stopped and started again meanwhile is no
 * concern of this: it goes on asking.
 * @throws the signal's reason, or what made a worker fail
 */
export async function runSales(stack: DemoStack, options: RunSalesOptions = {}): Promise<SaleProgress[]> {
  const { onChange, deadlineMs = DEADLINE_MS } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
  // Each sale listens to it: that is many, and no leak.
  setMaxListeners(0, signal);
  const untilMs = Date.now() + deadlineMs;
  const sales = stack.plan.examples.map((example): SaleProgress => {
    const workflowId = stack.starter.workflowId(saleKeyOf(example.input));
    return { example, workflowId, stage: "starting", waitingFor: "its start", startedAtMs: Date.now() };
  });
  const follow = (sale: SaleProgress, index: number): Promise<SaleProgress> => {
    const saleChanged = (changed: SaleProgress): void => {
      sales[index] = changed;
      onChange?.([...sales]);
    };
    const followed = (): Promise<SaleProgress> => followSale(stack, sale, { signal, untilMs, onChange: saleChanged });
    return stack.client.withAbortSignal(signal, followed);
  };
  const following = sales.map(follow);
  onChange?.([...sales]);
  try {
    return await Promise.race([Promise.all(following), stack.workers.failed]);
  } finally {
    stop.abort();
  }
}
