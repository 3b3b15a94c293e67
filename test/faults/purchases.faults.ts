import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { MAIN_TASK_QUEUE, syncPurchasesWorkflowId } from "../../src/contract/index.ts";
import { type Ledger, openLedger } from "../../src/ledger/index.ts";
import { changeWhileRead, pagesOf } from "../rig/purchase-changes.ts";
import { keptBy, listedBy, purchaseOf } from "../rig/purchases.ts";
import { askUntilAnswered } from "./drive/ask-until-answered.ts";
import { faultOptions } from "./options.ts";
import { Chance } from "./plan/chance.ts";
import { type FaultStack, startFaultStack } from "./stack/fault-stack.ts";

const SCOPE = { connection: "default", businessId: "biz_1" };

/** Again and again the worker is gone in the middle of a synchronisation, at a page that chance has chosen. */
describe("a worker that is killed while it syncs purchases", () => {
  const { seed, full, keep } = faultOptions(process.env);
  const count = full ? 20_000 : 600;
  // What a killed worker was at is tried again after half a minute.
  const plannedKills = full ? 10 : 2;
  const workflowId = syncPurchasesWorkflowId(SCOPE);
  const never = new AbortController().signal;
  let stack: FaultStack | undefined;
  let ledger: Ledger | undefined;
  let kills = 0;

  beforeAll(
    async () => {
      process.stderr.write(`FAULTS_SEED=${seed}: ${plannedKills} kills while ${count} purchases are synced\n`);
      const running = await startFaultStack({ seed, workers: 1, keep });
      stack = running;
      const { simulator, client } = running;
      const opened = openLedger({ home: running.home });
      ledger = opened;
      await opened.ready();
      for (let n = 0; n < count; n++) simulator.addPurchase(purchaseOf(n, n % 20 === 0 ? { status: "pulled" } : {}));
      const stopChanging = changeWhileRead(simulator, count, seed);
      const sync = (input: object): Promise<unknown> =>
        askUntilAnswered(client, never, () =>
          client.workflow.execute("syncPurchases", {
            workflowId,
            taskQueue: MAIN_TASK_QUEUE,
            args: [{ ...SCOPE, ...input }],
            workflowIdConflictPolicy: "USE_EXISTING",
          }),
        );
      const killing = killAtPages(running);
      for (let n = 0; kills < plannedKills; n++) await sync(n % 2 === 0 ? { full: true } : {});
      await killing;
      stopChanging();
      await sync({ full: true });
    },
    (full ? 45 : 15) * 60_000,
  );

  afterAll(async () => {
    await ledger?.close();
    await stack?.close();
  });

  async function killAtPages({ simulator, workers }: FaultStack): Promise<void> {
    const chance = new Chance(seed, "pages");
    for (; kills < plannedKills; kills++) {
      const page = pagesOf(simulator) + chance.whole(1, full ? 60 : 8);
      await simulator.until(() => pagesOf(simulator) >= page);
      workers[0]?.kill();
    }
  }

  test("loses no purchase, and keeps none twice", async () => {
    expect(kills).toBe(plannedKills);
    if (!stack || !ledger) throw new Error("the stack did not come up");
    expect(await keptBy(ledger)).toEqual(listedBy(stack.simulator));
  });

  test("leaves a chain of events that verifies", async () => {
    const reports = [];
    for await (const report of ledger?.verify(SCOPE) ?? []) reports.push(report);
    expect(reports).toMatchObject([{ findings: [], moreFindings: 0 }]);
  });
});
