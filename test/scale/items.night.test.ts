import { afterAll, beforeAll, expect, test } from "vitest";

import { MAIN_TASK_QUEUE, type RegisterItemsOutcome, registerItemsWorkflowId } from "../../src/contract/index.ts";
import type { NewItem } from "../../src/dev/simulator/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { FULL_SIZE } from "../rig/patience.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const COUNT = FULL_SIZE ? 10_000 : 500;
const LONGEST_MS = FULL_SIZE ? 1_800_000 : 300_000;
const MOST_EVENTS = 800;

/** Of ten items one lacks data, one is refused and one is registered already. */
function itemOf(n: number): NewItem {
  const item = { id: `bulk_${String(n).padStart(5, "0")}`, businessId: "biz_1", name: `Item ${n}`, unitPrice: 10 };
  if (n % 10 === 1) return { ...item, registrationStatus: "PENDING", needs: { productType: true } };
  if (n % 10 === 2) return { ...item, registrationStatus: "PENDING", registration: { reject: "Unknown unit" } };
  return { ...item, registrationStatus: n % 10 === 3 ? "REGISTERED" : "PENDING" };
}

describeWithTemporal(`the registration of ${COUNT} items`, () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
    for (let n = 0; n < COUNT; n++) rig.simulator.addItem(itemOf(n));
  });
  afterAll(() => rig?.close(), LONGEST_MS);

  test(
    "has one outcome for each item, in histories of bounded size",
    async () => {
      const workflowId = registerItemsWorkflowId({ connection: "default", businessId: "biz_1" });
      const outcome = (await rig.client.workflow.execute("registerItems", {
        workflowId,
        taskQueue: MAIN_TASK_QUEUE,
        args: [{}],
      })) as RegisterItemsOutcome;
      // With the six of the built-in catalogue.
      expect(outcome.counts).toEqual({
        registered: (COUNT / 10) * 7 + 1,
        "registered-already": COUNT / 10 + 4,
        "needs-data": COUNT / 10 + 1,
        refused: COUNT / 10,
        unknown: 0,
        unclear: 0,
      });
      expect(outcome.refused.length).toBeLessThanOrEqual(100);
      const asked = rig.simulator.calls({ operation: "registerItem" }).map(({ itemId }) => itemId);
      expect(asked).toHaveLength((COUNT / 10) * 8 + 1);
      expect(new Set(asked).size).toBe(asked.length);
      let lengths: number[] = [];
      await expect
        .poll(async () => {
          lengths = [];
          let open = 0;
          for await (const run of rig.client.workflow.list({ query: "WorkflowType = 'registerItems'" })) {
            if (run.status.name === "RUNNING") open += 1;
            lengths.push(run.historyLength);
          }
          return open;
        })
        .toBe(0);
      process.stderr.write(`${COUNT} items: ${lengths.length} runs, the longest of ${Math.max(...lengths)} events\n`);
      expect(lengths.length).toBeGreaterThan(1);
      expect(Math.max(...lengths)).toBeLessThan(MOST_EVENTS);
    },
    LONGEST_MS,
  );
});
