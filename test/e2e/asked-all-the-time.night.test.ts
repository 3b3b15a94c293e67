import { afterAll, beforeAll, expect, test } from "vitest";

import { STATE_QUERY, UPDATES, type WorkflowState } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const SALES = 3;
const QUERIES_AT_ONCE = 10;
const QUERY_WITHIN_MS = 2_000;
const LOCAL_ACTIVITY = "core_local_activity";

describeWithTemporal("a sale that receives queries all the time", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());
  const { start } = salesOf(() => rig);
  /** A query that a run's end meets is answered seconds later: nothing waits for it but the end of the test. */
  const allQueries: Promise<void>[] = [];

  /** Starts it, has it refunded, and asks for its state until it is over. Returns what asks for its state. */
  async function carried(invoice: string): Promise<() => Promise<WorkflowState>> {
    const handle = await start(invoice, { refundWindow: "1 hour" });
    const ask = (): Promise<WorkflowState> => handle.query<WorkflowState>(STATE_QUERY);
    let asking = true;
    // Temporal gives queries up that a busy worker has no room for. They are the load here; the one that counts is
    // asked at the end.
    const keepAsking = async (): Promise<void> => {
      while (asking) await rig.client.withDeadline(Date.now() + QUERY_WITHIN_MS, ask).catch(() => {});
    };
    allQueries.push(...Array.from({ length: QUERIES_AT_ONCE }, keepAsking));
    try {
      const answers = [1, 2, 3].map(() => handle.executeUpdate(UPDATES.outcome, { args: [{ waitSeconds: 20 }] }));
      for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ stage: "completed" });
      const request = { traderInvoiceNumber: `${invoice}-CN`, reason: "06" } as const;
      expect(await rig.starter.refund({ invoice }, request, { waitSeconds: 20 })).toMatchObject({ stage: "credited" });
      await handle.result();
    } finally {
      asking = false;
    }
    return ask;
  }

  // A query ends the workflow task at any moment, and a replay is then given a local activity's end at another one
  // (decision 15). Which moment it meets is chance, so it is seen to that there is none; and each history is replayed
  // at the end of the suite.
  test("answers them, fails no workflow task, and uses no local activity", async () => {
    const invoices = Array.from({ length: SALES }, (_, n) => `ASKED-${n}`);
    const asks = [];
    for (const invoice of invoices) asks.push(await carried(invoice));
    await Promise.all(allQueries);
    for (const ask of asks) expect(await ask()).toMatchObject({ stage: "credited" });
    const allEvents = [];
    let runs = 0;
    for await (const { workflowId, runId } of rig.client.workflow.list()) {
      const { events } = await rig.client.workflow.getHandle(workflowId, runId).fetchHistory();
      allEvents.push(...(events ?? []));
      runs += 1;
    }
    expect(runs).toBe(SALES);
    expect(allEvents.map((event) => event.markerRecordedEventAttributes?.markerName)).not.toContain(LOCAL_ACTIVITY);
    // Without a cache of runs, the SDK drops what waits beside a query, and nobody hears of it for ten seconds
    // (decision 15).
    expect(allEvents.filter((event) => event.workflowTaskTimedOutEventAttributes)).toEqual([]);
  });
});
