import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { SaleInput, SaleOutcome } from "../../src/contract/index.ts";
import { faultOptions } from "./options.ts";
import { askUntilAnswered } from "./drive/ask-until-answered.ts";
import { type FaultStack, startFaultStack } from "./stack/fault-stack.ts";

/** Longer than an attempt may take by Temporal's reckoning, and than a worker goes on offering what it has done. */
const AWAY_MS = 60_000;
const ANSWER_MS = 500;
const LONGEST_MS = 180_000;

/**
 * A server that is away for a minute loses the completion of what was finished meanwhile: only the claims know then.
 */
describe("Temporal goes away for a minute in the middle of a sale's movement", () => {
  const { seed, keep } = faultOptions(process.env);
  const never = new AbortController().signal;
  let stack: FaultStack | undefined;
  let outcome: SaleOutcome;
  let raised: string[];

  beforeAll(async () => {
    const running = await startFaultStack({ seed, workers: 1, keep });
    stack = running;
    const { simulator, starter, client, temporal } = running;
    simulator.inject({ operation: "adjustStock", when: "after", kind: "slow", delayMs: ANSWER_MS, times: 1 });
    const sale = { traderInvoiceNumber: "AWAY-1", businessId: "biz_1", refundWindow: "0" };
    const lines = [{ itemId: "biz_1_tea", quantity: 1, unitPrice: 100 }];
    const { workflowId } = await starter.startSale({ ...sale, lines });
    await simulator.until(() => simulator.books().movements.length === 1);
    await temporal.killAndRestart(() => delay(AWAY_MS));
    const handle = client.workflow.getHandle<(input: SaleInput) => Promise<SaleOutcome>>(workflowId);
    outcome = await askUntilAnswered(client, never, () => handle.result());
    const events = (await handle.fetchHistory()).events ?? [];
    raised = events.flatMap((event) => {
      const changed = event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields;
      const data = changed?.["FiscalAttention"]?.data;
      return data ? [Buffer.from(data).toString("utf8")] : [];
    });
  }, LONGEST_MS);

  afterAll(() => stack?.close());

  test("the movement is applied once, and its outcome is adopted", () => {
    const movements = stack?.simulator.books().movements ?? [];
    expect(movements).toHaveLength(1);
    expect(outcome).toMatchObject({
      stage: "completed",
      stockMovements: [{ state: "applied", movementId: movements[0]?.movementId }],
    });
  });

  test("no operator is needed for its outcome", () => {
    expect(raised.filter((attention) => attention.includes("stock-unknown"))).toEqual([]);
  });
});
