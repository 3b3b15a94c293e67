import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import {
  MAIN_TASK_QUEUE,
  type SyncPurchasesInput,
  type SyncPurchasesOutcome,
  syncPurchasesWorkflowId,
} from "../../src/contract/index.ts";
import { type Ledger, openLedger } from "../../src/ledger/index.ts";
import { type Simulator, startSimulator } from "../../src/dev/simulator/index.ts";
import { askUntilAnswered } from "../faults/drive/ask-until-answered.ts";
import { ProductProcess } from "../faults/stack/product-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { freshDatabase } from "../rig/fresh-database.ts";
import { namespaceOf } from "../rig/namespace.ts";
import { FULL_SIZE } from "../rig/patience.ts";
import { changeWhileRead, pagesOf } from "../rig/purchase-changes.ts";
import { keptBy, listedBy, purchaseOf } from "../rig/purchases.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const SCOPE = { connection: "default", businessId: "biz_1" };

/** A tenth of the rows is in as many pages. */
const COUNT = FULL_SIZE ? 20_000 : 2_000;
const MOST_GROWTH_KB = 150 * 1_024;
const MOST_EVENTS = 400;
const LONGEST_MS = FULL_SIZE ? 900_000 : 240_000;

describeWithTemporal(`${COUNT} purchases`, () => {
  const workflowId = syncPurchasesWorkflowId(SCOPE);
  const namespace = namespaceOf(import.meta.filename);
  let folder: string;
  let simulator: Simulator;
  let connection: Connection;
  let client: Client;
  let ledger: Ledger;
  let worker: ProductProcess;
  beforeAll(async () => {
    if (!existsSync(MAIN)) throw new Error("this suite runs what is built: run `npm run build` first");
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-scale-"));
    const purchases = Array.from({ length: COUNT }, (_, n) =>
      purchaseOf(n, n % 20 === 0 ? { status: "pulled" } : n % 31 === 0 ? { status: "pending_review" } : {}),
    );
    simulator = await startSimulator({ scenario: { purchases }, limitPerWindow: 1_000_000 });
    const address = inject("temporalAddress") ?? "";
    connection = await Connection.connect({ address });
    client = new Client({ connection, namespace });
    const url = await freshDatabase(inject("ledgerServerUrl"));
    ledger = openLedger({ url, home: folder });
    // Without the name the service gives its pages of twenty.
    const dialect: Record<string, string> = FULL_SIZE
      ? {}
      : { COMPLIANCE_DIALECT: JSON.stringify({ purchases: { pageSize: null } }) };
    worker = new ProductProcess({
      main: MAIN,
      command: "worker",
      env: {
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: namespace,
        COMPLIANCE_BASE_URL: simulator.url,
        COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
        COMPLIANCE_BUSINESS_ID: "biz_1",
        LEDGER_URL: url,
        ...dialect,
      },
      logPath: join(folder, "worker.log"),
      readyMessage: "serving",
    });
    if (!(await worker.ready)) throw new Error("the worker ended at its start");
  }, LONGEST_MS);
  afterAll(async () => {
    worker?.signal("SIGKILL");
    await worker?.ended;
    await ledger?.close();
    await connection?.close();
    await simulator?.close();
    await rm(folder, { recursive: true });
  });

  const sync = async (input: SyncPurchasesInput): Promise<SyncPurchasesOutcome> => {
    const handle = await client.workflow.start("syncPurchases", {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
    });
    // A server on a busy machine gives a waiting client up now and then.
    const never = new AbortController().signal;
    return (await askUntilAnswered(client, never, () => handle.result())) as SyncPurchasesOutcome;
  };

  test(
    "are read in bounded memory and bounded histories, while purchases are added, changed and moved",
    async () => {
      // The ledger is open once the worker serves.
      const startKb = await residentKb(worker.pid);
      let mostKb = startKb;
      let done = false;
      const watching = (async () => {
        for (let at = pagesOf(simulator); !done; at = pagesOf(simulator)) {
          await simulator.until(() => done || pagesOf(simulator) >= at + 5);
          mostKb = Math.max(mostKb, await residentKb(worker.pid));
        }
      })();
      const stopChanging = changeWhileRead(simulator, COUNT, 7);
      const first = await sync({});
      expect(first.rows).toBeGreaterThanOrEqual(COUNT * 0.9);
      await sync({ full: true });
      const changes = stopChanging();
      expect(changes).toBeGreaterThan(100);
      await sync({ full: true });
      done = true;
      // Wakes who waits for pages.
      simulator.updatePurchase(listedBy(simulator)[0]?.id ?? "", {});
      await watching;

      expect(await keptBy(ledger)).toEqual(listedBy(simulator));
      const lengths = await historyLengths();
      process.stderr.write(
        `${COUNT} purchases, ${pagesOf(simulator)} pages, ${changes} changes meanwhile: worker ${Math.round(startKb / 1_024)} MB when the ledger was open, at most ${Math.round(mostKb / 1_024)} MB; ${lengths.length} runs, the longest of ${Math.max(...lengths)} events\n`,
      );
      expect(mostKb - startKb).toBeLessThan(MOST_GROWTH_KB);
      // More than the three that were asked for: at least one went on in a new run.
      expect(lengths.length).toBeGreaterThan(3);
      expect(Math.max(...lengths)).toBeLessThan(MOST_EVENTS);
    },
    LONGEST_MS,
  );

  test("leave a chain of events that verifies", async () => {
    const reports = [];
    for await (const report of ledger.verify(SCOPE)) reports.push(report);
    expect(reports).toMatchObject([{ findings: [], moreFindings: 0 }]);
    expect(reports[0]?.events).toBeGreaterThan(COUNT);
  });

  async function historyLengths(): Promise<number[]> {
    const lengths: number[] = [];
    await expect
      .poll(async () => {
        lengths.length = 0;
        let open = 0;
        for await (const run of client.workflow.list({ query: "WorkflowType = 'syncPurchases'" })) {
          if (run.status.name === "RUNNING") open += 1;
          lengths.push(run.historyLength);
        }
        return open;
      })
      .toBe(0);
    return lengths;
  }
});

const execFileAsync = promisify(execFile);

async function residentKb(pid: number | undefined): Promise<number> {
  const { stdout } = await execFileAsync("ps", ["-o", "rss=", "-p", String(pid)]);
  return Number(stdout.trim());
}
