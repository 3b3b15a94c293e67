import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openLedger } from "../../src/ledger/index.ts";
import type { DevServer } from "../../src/servers/start-dev-server.ts";
import { createEmbeddedServer, type EmbeddedServer } from "../../src/servers/postgres-server.ts";
import { readLedgerNote } from "../../src/worker/ledger-note.ts";
import { keepLostRows } from "../../src/worker/lost-rows.ts";
import { keepErasures } from "../../src/cli/ledger/erasures.ts";
import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { batchesOf } from "../accounting/batches-of.ts";
import { commandEnv } from "../rig/command-env.ts";
import { CommandProcess } from "../rig/command-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { startOwnServer } from "../rig/own-server.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

const customer = { name: "Njeri Mwangi", phone: "+254700000001" };

/** With their owner, who is not the one of the tests. */
const copy = (from: string, to: string) => promisify(execFile)("cp", ["-a", from, to]);

/** Files of the database that were copied, and put back: nothing but the number of events tells. */
describeWithTemporal("a worker killed while movements are out, and the database restored from before them", () => {
  let folder: string;
  let postgres: EmbeddedServer | undefined;
  let temporal: DevServer;
  let rig: Rig;
  let owner: string;
  const processes: CommandProcess[] = [];
  const { start, sell, sold, movementsOf, parked, result } = salesOf(() => rig);
  const batchOf = batchesOf(() => rig);
  const data = (): string => join(folder, "ledger/postgres/cluster/data");

  async function startPostgres(): Promise<{ url: string; ownerUrl: string }> {
    postgres = createEmbeddedServer({ home: join(folder, "ledger") });
    return postgres.ensure();
  }
  async function whileStopped(work: () => Promise<void>): Promise<void> {
    await postgres?.close();
    await work();
    await startPostgres();
  }
  async function startWorker(): Promise<CommandProcess> {
    const worker = new CommandProcess("worker", {
      ...commandEnv(rig),
      ACCOUNTING_BASE_URL: rig.simulator.accounting.url,
      ACCOUNTING_API_KEY: "sk_development_simulator",
      ACCOUNTING_CLIENT_SECRET: "cs_simulator",
      FISCALFLOW_TIMING_CALL_TIMEOUT_MS: "4000",
    });
    processes.push(worker);
    await worker.said("serving");
    return worker;
  }
  const restored = (...flags: string[]): Promise<CliResult> =>
    callCli(["ledger", "restored", ...flags], { env: { ...commandEnv(rig), LEDGER_OWNER_URL: owner } });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-restored-"));
    // The database runs as somebody else where the tests run as root.
    await chmod(folder, 0o755);
    temporal = await startOwnServer();
    const { url, ownerUrl } = await startPostgres();
    owner = ownerUrl;
    const made = openLedger({ url, ownerUrl, home: "/nowhere" });
    await made.ready();
    await made.close();
    rig = await startRig({
      address: temporal.address,
      receiver: false,
      workers: false,
      accounting: true,
      env: { LEDGER_URL: url },
    });
  });
  afterAll(async () => {
    for (const { child } of processes) if (child.exitCode === null) child.kill("SIGKILL");
    await rig?.close();
    await temporal?.stop();
    await postgres?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });

  test("each movement is sent once, and a person is asked about it, once somebody says what was lost", async () => {
    await startWorker();
    // Its row is in the backup, and nothing of what it sends.
    await start("LOST-1", { lines: [{ sku: "SKU-LATE", quantity: 1, unitPrice: 90 }] });
    await parked("LOST-1", "item-unknown");
    // So is that of one that completes before the database is lost.
    const four = { id: "item_four", businessId: "biz_1", name: "four", sku: "SKU-FOUR", unitPrice: 90 };
    await start("LOST-4", { lines: [{ sku: four.sku, quantity: 1, unitPrice: 90 }] });
    await parked("LOST-4", "item-unknown");
    await whileStopped(async () => void (await copy(data(), join(folder, "backup"))));

    // Nothing of what has ended meanwhile is in it.
    await sell("LOST-3", { customer });
    rig.simulator.addItem({ ...four, registrationStatus: "REGISTERED" });
    expect(await result("LOST-4")).toMatchObject({ stage: "completed" });
    // One waits for a refund, and the other one has had its own.
    await sold("LOST-5");
    await sold("LOST-6");
    await rig.starter.refund({ invoice: "LOST-6" }, { reason: "06", traderInvoiceNumber: "CN-LOST-6" });
    expect(await result("LOST-6")).toMatchObject({ stage: "credited" });
    const batch = batchOf();
    await batch.start();
    await batch.result();
    const item = { id: "item_late", businessId: "biz_1", name: "late", sku: "SKU-LATE", unitPrice: 90 };
    for (const referenceId of ["LOST-1/item_late/sold", "LOST-2/item_tea/sold"])
      rig.simulator.inject({
        operation: "adjustStock",
        when: "after",
        kind: "slow",
        delayMs: 600_000,
        match: { referenceId },
      });
    rig.simulator.addItem({ ...item, registrationStatus: "REGISTERED" });
    // Neither its row is in the backup.
    await start("LOST-2");
    await rig.simulator.until(() => movementsOf("LOST-1").length === 1 && movementsOf("LOST-2").length === 1);
    // What a worker has seen it tells Temporal when it starts, and then each minute.
    const { events } = await rig.ledger.place();
    await startWorker();
    await expect.poll(async () => (await readLedgerNote(rig.client))?.events).toBeGreaterThanOrEqual(events);
    for (const worker of processes) await worker.end("SIGKILL");
    const lostAt = new Date().toISOString();
    await whileStopped(async () => {
      await rm(data(), { recursive: true });
      await copy(join(folder, "backup"), data());
    });

    const worker = await startWorker();
    const away = await worker.said("the ledger is away: no stock movement is sent until it is there");
    expect(away["reason"]).toMatch(
      /has \d+ events, and had \d+: it was restored from a backup.*`fiscalflow ledger restored`/,
    );
    for (const invoice of ["LOST-1", "LOST-2"])
      await rig.stateWhen(invoice, ({ waitingFor }) => waitingFor === "the ledger, which does not answer");

    const wrong = await restored();
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining("--at <instant>")]);
    const early = await restored("--at", "2026-01-01T00:00:00Z");
    expect([early.exitCode, early.stderr]).toEqual([2, expect.stringContaining("before the newest event")]);
    // One that is killed once it has written something: the workers still wait, and the next one does the rest.
    const lastEventMs = (await rig.ledger.lastEventMs()) ?? 0;
    await rig.ledger.holdPlace(lastEventMs, Date.parse(lostAt));
    for await (const { what } of keepLostRows(rig.client, rig.ledger, lastEventMs)) if (what === "sync batch") break;
    const accepted = await restored("--at", lostAt);
    expect(accepted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("is not sent again") });
    expect(accepted.stderr).toContain("this command ended early before");
    expect(accepted.stdout).toMatch(/6 workflows had done what.*(LOST-[1-6] \(sale\).*){6}/s);
    const document = { status: "completed", receipt: expect.anything() };
    for (const invoice of ["LOST-1", "LOST-2", "LOST-3", "LOST-4", "LOST-5"])
      expect(await rig.ledger.documents.findSale(BUSINESS, invoice), invoice).toMatchObject({
        record: { stage: "completed", document },
      });
    expect(await rig.ledger.documents.findSale(BUSINESS, "LOST-6")).toMatchObject({
      record: { stage: "credited", document },
      creditNote: { record: { number: "CN-LOST-6", stage: "credited", document, refund: { reason: "06" } } },
    });
    // What it has done it does not find again.
    expect((await restored("--at", lostAt)).stdout).not.toContain("had done what the database did not know");
    for (const invoice of ["LOST-1", "LOST-2"]) {
      const { stockMovements } = await parked(invoice, "stock-unknown");
      const referenceId = stockMovements[0]?.referenceId ?? "";
      expect(movementsOf(invoice), invoice).toHaveLength(1);
      await rig.starter.resolveStock({ invoice }, { referenceId, applied: true, note: "seen in the journal" });
      await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
      expect(movementsOf(invoice), invoice).toHaveLength(1);
      // The database had known nothing of it.
      expect(await rig.ledger.documents.findSale(BUSINESS, invoice), invoice).toMatchObject({
        record: { movements: [{ referenceId, state: "applied", purpose: "sold" }] },
      });
      expect(rig.simulator.documents(invoice), invoice).toHaveLength(1);
    }
    // Started again when Temporal has forgotten it, it sends nothing.
    await forgetWorkflow(rig, rig.starter.workflowId({ invoice: "LOST-3" }));
    expect(await (await start("LOST-3", { customer })).result()).toMatchObject({ stage: "completed" });
    expect([rig.simulator.documents("LOST-3").length, movementsOf("LOST-3").length]).toEqual([1, 1]);
    // What it took from stock is lost with its movements: nothing is returned to where nobody knows that it came from.
    const refund = { reason: "06", traderInvoiceNumber: "CN-LOST-3", restock: true } as const;
    await expect(rig.starter.refund({ invoice: "LOST-3" }, refund)).rejects.toThrow(
      "This sale took nothing from stock",
    );
    // Nor does the batch, before a person has looked.
    await batch.start();
    expect(await batch.needs()).toMatchObject({ code: "batch-unknown" });
    expect(batch.calls()).toBe(1);
    // What comes after it needs nobody.
    await start("AFTER-1");
    await rig.stateWhen("AFTER-1", ({ stage }) => stage === "completed");
    // What was erased before the database was lost is erased again.
    expect(JSON.stringify(await rig.ledger.documents.findSale(BUSINESS, "LOST-3"))).toContain(customer.phone);
    const erasures = join(folder, "erasures.jsonl");
    await keepErasures(erasures, [{ ...BUSINESS, type: "sale", number: "LOST-3", erased: "customer" }]);
    const again = await restored("--lossless", "--erasures", erasures);
    expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("1 document lost again what") });
    expect(JSON.stringify(await rig.ledger.documents.findSale(BUSINESS, "LOST-3"))).not.toContain(customer.phone);
    const verify = await callCli(["ledger", "verify", "--erasures", erasures], { env: commandEnv(rig) });
    expect(verify).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("unaltered") });
  });
});
