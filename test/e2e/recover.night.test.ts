import { afterAll, beforeAll, expect, test } from "vitest";

import { UPDATES } from "../../src/contract/index.ts";
import type { DevServer } from "../../src/servers/start-dev-server.ts";
import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { batchesOf } from "../accounting/batches-of.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { each, expectEachOnce, finish, openSales } from "../rig/open-sales.ts";
import { startOwnServer } from "../rig/own-server.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const OPEN = 100;
/** A hundred sales begin in one moment, in the process that also looks at them. */
const LEDGER_TIMEOUT_MS = 8_000;

describeWithTemporal("after Temporal has lost every workflow", () => {
  /** Of its own, since it loses everything. */
  let server: DevServer;
  let rig: Rig;
  beforeAll(async () => {
    server = await startOwnServer();
    rig = await startRig({
      address: server.address,
      accounting: true,
      timings: { resubmissions: 0 },
      ledgerTimeoutMs: LEDGER_TIMEOUT_MS,
    });
  });
  afterAll(async () => {
    await rig?.close();
    await server?.stop();
  });

  const { sell, handleOf } = salesOf(() => rig);
  const batchOf = batchesOf(() => rig);
  const recover = (...flags: string[]): Promise<CliResult> => callCli(["recover", ...flags], { env: commandEnv(rig) });

  const open = openSales(() => rig, "LOST", OPEN);

  test("recover starts what the ledger knows as open, and every sale ends: 0 twice", async () => {
    await each(open, (sale) => sale.open(sale.invoice));
    const done = await sell("DONE-1");
    const batch = batchOf();
    batch.fault({ when: "after", kind: "drop" });
    await batch.start();
    await batch.needs();
    await rig.stopWorkers();
    await server.stop();
    server = await startOwnServer({ port: Number(new URL(`temporal://${server.address}`).port) });
    expect((await rig.client.workflow.count()).count).toBe(0);

    const planned = await recover("--dry-run");
    expect(planned.exitCode).toBe(0);
    expect(planned.stdout.trim().split("\n")).toHaveLength(OPEN + 1);
    expect(planned.stdout).toContain(`${batch.handle.workflowId}  not processed  would be started`);
    expect(planned.stdout).toContain("sale/default/biz_1/LOST-0  awaiting-authority  would be started");
    expect(planned.stderr).toContain(`Open in the ledger: ${OPEN + 1}, of which ${OPEN + 1} would be started.`);
    expect((await rig.client.workflow.count()).count).toBe(0);

    const asked = await recover("--json");
    expect(asked.exitCode).toBe(0);
    const started = JSON.parse(asked.stdout) as { workflowId: string; result: string }[];
    const handles = [...open.map(({ invoice }) => handleOf(invoice)), batch.handle];
    expect(new Set(started.map(({ workflowId }) => workflowId))).toEqual(
      new Set(handles.map(({ workflowId }) => workflowId)),
    );
    expect(new Set(started.map(({ result }) => result))).toEqual(new Set(["started"]));
    expect((await recover()).stderr).toContain(
      `Open in the ledger: ${OPEN + 1}, of which 0 started, ${OPEN + 1} known to Temporal.`,
    );

    await rig.startWorkers();
    await finish(rig, open);
    await expectEachOnce(rig, open);
    await batch.needs();
    await rig.client.workflow
      .getHandle(batch.handle.workflowId)
      .executeUpdate(UPDATES.resolveBatch, { args: [{ processed: true, note: "seen in the dashboard" }] });
    expect(await rig.client.workflow.result(batch.handle.workflowId)).toMatchObject({ saidBy: "person" });
    expect([batch.processed(), batch.calls()]).toEqual([1, 1]);
    expect(rig.simulator.documents("DONE-1")).toMatchObject([{ id: done.sale?.id }]);
    expect((await recover()).stderr).toContain("Nothing to start: nothing is open.");
  });
});
