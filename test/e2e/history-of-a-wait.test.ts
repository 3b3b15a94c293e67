import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { historiesOf, workflowTasksIn } from "../rig/histories-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("the history of a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
    await historyOf("WARM-UP");
  });
  afterAll(() => rig?.close());

  const { historyOf, inFlight } = historiesOf(() => rig);

  test("has at most 7 events and 1 workflow task more for a caller who waits", async () => {
    /** Of the shortest of three: on a busy machine what belongs to one workflow task may come in two. */
    const waited = async (invoice: string, begin: (invoice: string) => void, more: Partial<SaleInput> = {}) => {
      const sizes: [events: number, tasks: number][] = [];
      for (const each of [1, 2, 3]) {
        begin(`${invoice}-${each}`);
        const events = await historyOf(`${invoice}-${each}`, more, { waitSeconds: 20 });
        sizes.push([events.length, workflowTasksIn(events)]);
      }
      return sizes.toSorted(([a], [b]) => a - b)[0] ?? [0, 0];
    };
    const [events, tasks] = await waited("WAITED-1", () => undefined, { callback: "off" });
    expect(events).toBeLessThanOrEqual(25 + 7);
    expect(tasks).toBeLessThanOrEqual(4 + 1);
    const [flownEvents, flownTasks] = await waited("WAITED-2", inFlight);
    expect(flownEvents).toBeLessThanOrEqual(39 + 7);
    expect(flownTasks).toBeLessThanOrEqual(6 + 1);
  });
});
