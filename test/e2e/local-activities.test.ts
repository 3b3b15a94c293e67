import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";

import { STATE_QUERY, UPDATES, type WorkflowState } from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/** The local activity that keeps the record of a finished sale has 2 s, and leaves it to the queue's activity after that. */
const TOO_LATE_MS = 2_500;
/**
 * A query that comes with a workflow task ends it beside the local activity. Which task it comes with is a matter of milliseconds, so some of
 * the sales meet it, or none; `sale-answered-beside-a-local-activity` among the stored histories has.
 */
const SALES = 3;
const QUERIES_AT_ONCE = 10;

describeWithTemporal("messages that are handled beside a local activity", () => {
  let rig: Rig;
  let saving = (): void => {};
  let answered = Promise.resolve<unknown>(undefined);
  const late = async (): Promise<void> => {
    saving();
    await delay(TOO_LATE_MS);
    await answered;
  };
  beforeAll(async () => {
    rig = await startRig({ withLedger: (real) => savingAfter(real, late) });
  });
  afterAll(() => rig?.close());
  const { start } = salesOf(() => rig);

  /** What the run's history holds of answers, and of the record that was left to the queue, in its order. */
  async function historyOf(invoice: string): Promise<string[]> {
    const begun = new Promise<void>((resolve) => (saving = resolve));
    const handle = await start(invoice);
    let asking = true;
    // Temporal gives queries up that a busy worker has no room for. They are the load here; the one that counts is asked at the end.
    const queries = Array.from({ length: QUERIES_AT_ONCE }, async () => {
      while (asking) await handle.query(STATE_QUERY).catch(() => {});
    });
    await begun;
    const answers = [1, 2, 3].map(() => handle.executeUpdate(UPDATES.outcome, { args: [{ waitSeconds: 20 }] }));
    answered = Promise.all(answers);
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ stage: "completed" });
    asking = false;
    await Promise.all([...queries, handle.result()]);
    expect(await handle.query<WorkflowState>(STATE_QUERY)).toMatchObject({ stage: "completed" });
    const { events } = await handle.fetchHistory();
    return (events ?? []).flatMap((event) => {
      if (event.workflowExecutionUpdateCompletedEventAttributes) return ["answered"];
      return event.activityTaskScheduledEventAttributes?.activityType?.name === "saveRecord"
        ? ["left to the queue"]
        : [];
    });
  }

  // A replay handles them together with the activity's end, and must come to the same order. That it does is seen to at the end of the suite.
  test("are answered, and the record that was left to the queue is kept once", async () => {
    for (let n = 0; n < SALES; n++) {
      const parts = await historyOf(`BESIDE-${n}`);
      expect(parts.toSorted()).toEqual(["answered", "answered", "answered", "left to the queue"]);
    }
  });
});

function savingAfter(real: Ledger, wait: () => Promise<void>): Ledger {
  return {
    ...real,
    records: {
      ...real.records,
      saveDocument: async (...args) => {
        await wait();
        return await real.records.saveDocument(...args);
      },
    },
  };
}
