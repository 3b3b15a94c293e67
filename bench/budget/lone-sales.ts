import { setTimeout as delay } from "node:timers/promises";

import { createStarter, type Starter } from "../../src/starter/index.ts";
import type { BenchStack } from "../stack/start-stack.ts";
import { say } from "../stack/progress.ts";
import { itemOf, SHOP, UNIT_PRICE } from "./businesses.ts";
import { LONE, UNLIMITED } from "./lanes.ts";
import { median, quantile } from "./measure/statistics.ts";

export interface LoneFigures {
  readonly pairs: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly unlimitedMedianMs: number;
  readonly unlimitedP95Ms: number;
  /** Of the medians. */
  readonly ratio: number;
}

/** Each process reads each catalogue once, and a sale goes to whichever process is free. */
const WARM_UP_SALES = 6;
const LONGEST_PAUSE_MS = 400;

/**
 * Pairs of real sales, one after the other at random moments: one on an idle application with the usual limit, one on
 * an application whose limit nobody reaches.
 */
export async function lonePairs(
  stack: BenchStack,
  pairs: number,
  random: () => number,
  signal: AbortSignal,
): Promise<LoneFigures> {
  const starter = createStarter({ client: stack.client, identity: "bench" });
  say(`${LONE}: ${pairs} pairs of sales`);
  for (let index = 0; index < WARM_UP_SALES; index += 1)
    for (const connection of [LONE, UNLIMITED]) await oneSale(stack, starter, connection, `WARM-${index}`);
  const limitedMs: number[] = [];
  const unlimitedMs: number[] = [];
  for (let index = 0; index < pairs; index += 1) {
    const order = random() < 0.5 ? [LONE, UNLIMITED] : [UNLIMITED, LONE];
    for (const connection of order) {
      await delay(random() * LONGEST_PAUSE_MS, undefined, { signal });
      const tookMs = await oneSale(stack, starter, connection, `LONE-${index}`);
      (connection === LONE ? limitedMs : unlimitedMs).push(tookMs);
    }
  }
  return {
    pairs,
    medianMs: median(limitedMs),
    p95Ms: quantile(limitedMs, 0.95),
    unlimitedMedianMs: median(unlimitedMs),
    unlimitedP95Ms: quantile(unlimitedMs, 0.95),
    ratio: median(limitedMs) / median(unlimitedMs),
  };
}

async function oneSale(
  { client }: BenchStack,
  starter: Starter,
  connection: string,
  traderInvoiceNumber: string,
): Promise<number> {
  const startedMs = performance.now();
  const { workflowId } = await starter.startSale({
    connection,
    businessId: SHOP,
    traderInvoiceNumber,
    lines: [{ itemId: itemOf(SHOP), quantity: 1, unitPrice: UNIT_PRICE }],
    refundWindow: "0",
  });
  await client.workflow.getHandle(workflowId).result();
  return performance.now() - startedMs;
}
