import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";

import type { DevServer } from "../../src/servers/start-dev-server.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { viewsOf } from "../rig/views-of.ts";
import { findingsIn } from "../rig/findings-in.ts";
import { startOwnServer } from "../rig/own-server.ts";

const UNKNOWN_ITEM = { lines: [{ sku: "NO-SUCH", quantity: 2, unitPrice: 100 }] };

/** The server of all suites carries out no batch operations. */
describeWithTemporal("a sale that a batch operation has terminated", () => {
  let server: DevServer;
  let rig: Rig;
  beforeAll(async () => {
    server = await startOwnServer();
    rig = await startRig({ receiver: false, address: server.address });
  });
  afterAll(async () => {
    await rig?.close();
    await server?.stop();
  });
  const { start, parked } = salesOf(() => rig);
  const views = viewsOf(() => rig);
  const { fiscalflow, listed, shown, row, openNumbers, endedNumbers, recordedInLedger } = views;

  test("is shown as terminated by every view, and all such sales are restarted by one command", async () => {
    const numbers = ["BATCH-1", "BATCH-2", "BATCH-3"];
    for (const number of numbers) await start(number, UNKNOWN_ITEM);
    for (const number of numbers) await parked(number, "item-unknown");
    for (const number of numbers) await expect.poll(() => openNumbers()).toContain(number);
    const ofBatch = `FiscalInvoice IN ("BATCH-1", "BATCH-2", "BATCH-3")`;
    await expect.poll(async () => (await rig.client.workflow.count(ofBatch)).count).toBe(3);
    const tried = await fiscalflow("sale", "cancel", "--query", ofBatch, "--reason", "an example");
    expect(tried.stdout).toMatch(
      /BATCH-1, resolving-items, item-unknown\n[^]*3 found; nothing was changed: add --yes to do it\./,
    );
    expect(await openNumbers()).toEqual(expect.arrayContaining(numbers));
    await rig.client.workflowService.startBatchOperation({
      namespace: rig.namespace,
      jobId: randomUUID(),
      reason: "a batch of a test",
      visibilityQuery: ofBatch,
      terminationOperation: { identity: "operator@shop" },
    });
    const ended = async (): Promise<string[]> =>
      (await listed("--ended")).map(({ invoice }) => invoice).filter((invoice) => numbers.includes(invoice));
    await expect.poll(async () => (await ended()).toSorted()).toEqual(numbers);
    expect(await shown("BATCH-2")).toMatchObject({ closed: { status: "terminated", reason: "a batch of a test" } });
    await recordedInLedger("terminated", ...numbers);
    expect(await endedNumbers()).toEqual(expect.arrayContaining(numbers));
    const open = await openNumbers();
    expect(numbers.filter((number) => open.includes(number))).toEqual([]);
    for (const invoice of numbers) {
      const closed = { status: "terminated", reason: "a batch of a test" };
      expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "resolving-items", closed });
      expect(await rig.starter.outcome({ invoice })).toMatchObject({ stage: "resolving-items", closed });
      const input = { traderInvoiceNumber: invoice, refundWindow: "0", ...UNKNOWN_ITEM };
      expect(await rig.starter.startSale(input)).toMatchObject({ result: "closed" });
    }
    expect((await listed("--attention")).filter(({ invoice }) => numbers.includes(invoice))).toEqual([]);

    const said = "3 workflows ended without an outcome, and nothing carries them on until they are restarted";
    const needing = await fiscalflow("sale", "list", "--attention", "--business", "biz_1");
    expect(needing.stdout).toBe(`${said}: fiscalflow sale list --ended --business biz_1\n\nNone.\n`);
    expect((await fiscalflow("doctor")).stdout).toContain(said);

    const restart = ["sale", "restart", "--query", ofBatch, "--note", "the batch was a mistake"];
    const looked = await fiscalflow(...restart);
    expect(looked.exitCode).toBe(0);
    expect(looked.stdout).toMatch(
      /sale\/default\/biz_1\/BATCH-1, resolving-items, item-unknown, terminated \d{4}-\d\d-\d\d \d\d:\d\d EAT\n/,
    );
    expect(looked.stdout).toContain("3 found; nothing was changed");
    expect(await ended()).toHaveLength(3);

    const done = await fiscalflow(...restart, "--yes", "--json");
    const { done: restarted, failed, skipped } = JSON.parse(done.stdout) as Record<string, { workflowId: string }[]>;
    expect({ exitCode: done.exitCode, failed, skipped }).toEqual({ exitCode: 0, failed: [], skipped: [] });
    expect(restarted?.map(({ workflowId }) => workflowId.split("/").at(-1)).toSorted()).toEqual(numbers);
    for (const number of numbers) await parked(number, "item-unknown");
    for (const number of numbers) {
      await expect.poll(async () => (await row(number))?.closed).toBeUndefined();
      const { decisions } = await rig.starter.getSale({ invoice: number });
      expect(decisions).toMatchObject([{ update: "restart", note: "the batch was a mistake" }]);
      expect(await shown(number)).not.toHaveProperty("closed");
      expect(await rig.starter.outcome({ invoice: number })).not.toHaveProperty("closed");
    }
    expect(await openNumbers()).toEqual(expect.arrayContaining(numbers));
    expect((await endedNumbers()).filter((number) => numbers.includes(number))).toEqual([]);
    expect(await findingsIn(rig.ledger)).toEqual([]);
    await expect.poll(() => ended()).toEqual([]);
    expect((await fiscalflow("sale", "list", "--attention")).stdout).not.toContain("ended without an outcome");

    const cancelled = await fiscalflow("sale", "cancel", "--query", ofBatch, "--reason", "test over", "--yes");
    expect(cancelled.exitCode).toBe(0);
    expect(cancelled.stdout).toContain("3 done, 0 skipped, 0 failed");
  });
});
