import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import {
  ApplicationFailure,
  CancelledFailure,
  Client,
  WorkflowFailedError,
  type WorkflowHandle,
} from "@temporalio/client";
import { NexusOperationFailure } from "@temporalio/common";
import { NativeConnection, Worker } from "@temporalio/worker";
import { HandlerError } from "nexus-rpc";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import { starterSettings } from "../../src/config/index.ts";
import { MAIN_TASK_QUEUE, type SaleInput, type SaleOutcome, STATE_QUERY } from "../../src/contract/index.ts";
import { createStarter } from "../../src/starter/index.ts";
import { bundleQuietly } from "../../src/worker/bundle-workflows.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { freshDatabase } from "../rig/fresh-database.ts";
import { CALLER_NAMESPACE } from "../rig/namespace.ts";
import { type Asked, giveUp } from "../rig/nexus-caller.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const ENDPOINT = "fiscal";
const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

type Caller = WorkflowHandle<(asked: Asked) => Promise<SaleOutcome>>;

describeWithTemporal("a workflow of another namespace", () => {
  let rig: Rig;
  let env: Record<string, string>;
  let native: NativeConnection;
  let web: Client;
  let worker: Worker;
  let ended: Promise<void>;
  beforeAll(async () => {
    const nexus = {
      FISCALFLOW_WORKER_NEXUS: "1",
      LEDGER_URL: await freshDatabase(inject("ledgerServerUrl")),
    };
    rig = await startRig({ env: nexus });
    env = {
      ...nexus,
      ...commandEnv(rig),
      // The server of the suites carries out no Schedules, and so does not describe any.
      COMPLIANCE_PURCHASES_SYNC_EVERY: "off",
      COMPLIANCE_RECONCILE_EVERY: "off",
    };
    native = await NativeConnection.connect({ address: rig.address });
    const spec = {
      name: ENDPOINT,
      target: { worker: { namespace: rig.namespace, taskQueue: MAIN_TASK_QUEUE } },
    };
    await native.operatorService.createNexusEndpoint({ spec });
    web = new Client({ connection: native, namespace: CALLER_NAMESPACE });
    worker = await Worker.create({
      connection: native,
      namespace: CALLER_NAMESPACE,
      taskQueue: "web-shop",
      workflowBundle: await bundleQuietly(fileURLToPath(new URL("../rig/nexus-caller.ts", import.meta.url))),
    });
    ended = worker.run();
  });
  afterAll(async () => {
    worker?.shutdown();
    await ended;
    await native?.close();
    await rig?.close();
  });
  const { handleOf, result, startDirectly } = salesOf(() => rig);
  const sale = (traderInvoiceNumber: string, more: Partial<SaleInput> = {}): SaleInput => ({
    traderInvoiceNumber,
    lines: [TEA],
    refundWindow: "1 hour",
    ...more,
  });

  let callers = 0;
  function ask(asked: Omit<Asked, "endpoint">): Promise<Caller> {
    const started: Promise<unknown> = web.workflow.start("caller", {
      taskQueue: "web-shop",
      workflowId: `caller-${++callers}`,
      args: [{ endpoint: ENDPOINT, ...asked }],
    });
    return started as Promise<Caller>;
  }

  async function outcomeOf(asked: Omit<Asked, "endpoint">): Promise<SaleOutcome> {
    return await (await ask(asked)).result();
  }

  /** What the caller's operation failed with. */
  async function failureOf(handle: Caller): Promise<unknown> {
    const error: unknown = await handle.result().catch((reason: unknown) => reason);
    if (!(error instanceof WorkflowFailedError)) throw new Error("the caller has not failed", { cause: error });
    if (!(error.cause instanceof NexusOperationFailure)) return error.cause;
    return error.cause.cause;
  }

  function rootOf(error: unknown): unknown {
    return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error;
  }

  /** The runs that wait for this sale, one for each operation. */
  async function waiting(invoice: string): Promise<WorkflowHandle[]> {
    const runs: WorkflowHandle[] = [];
    const prefix = `first-outcome/${handleOf(invoice).workflowId}/`;
    for await (const { workflowId } of rig.client.workflow.list({ query: 'WorkflowType = "firstOutcome"' }))
      if (workflowId.startsWith(prefix)) runs.push(rig.client.workflow.getHandle(workflowId));
    return runs;
  }

  test("receives the first outcome of a sale while its refund window is open", async () => {
    expect(await outcomeOf({ sale: sale("WEB-1") })).toMatchObject({
      stage: "completed",
      receipt: { cuInvoiceNo: expect.any(String) },
    });
    expect(await handleOf("WEB-1").describe()).toMatchObject({ status: { name: "RUNNING" } });
  });

  test("receives the same outcome where it asks again, also once the sale is closed, and one document is issued", async () => {
    const first = await outcomeOf({ sale: sale("WEB-2") });
    const second = await outcomeOf({ sale: sale("WEB-2") });
    expect(second.sale).toEqual(first.sale);
    const open = sale("WEB-3", { refundWindow: "0" });
    const last = await outcomeOf({ sale: open });
    expect(await result("WEB-3")).toMatchObject({ stage: "completed" });
    expect(await outcomeOf({ sale: open })).toMatchObject({ stage: "completed", sale: last.sale });
    for (const invoice of ["WEB-2", "WEB-3"]) expect(rig.simulator.documents(invoice)).toHaveLength(1);
  });

  test("is refused wrong input at once, and the failure names each field", async () => {
    const invalid = sale("WEB-4", { lines: [{ ...TEA, quantity: -1 }] });
    const refused = await failureOf(await ask({ sale: invalid }));
    expect(refused).toBeInstanceOf(HandlerError);
    expect(refused).toMatchObject({ type: "BAD_REQUEST", retryable: false });
    expect(rootOf(refused)).toMatchObject({ name: "ApplicationFailure", type: "InvalidInput" });
    expect((refused as Error).message).toContain("InvalidInput: The sale input is not valid:\n  lines[0].quantity");
    await outcomeOf({ sale: sale("WEB-5") });
    const conflict = await failureOf(await ask({ sale: sale("WEB-5", { lines: [{ ...TEA, quantity: 9 }] }) }));
    expect(conflict).toMatchObject({ type: "BAD_REQUEST", retryable: false });
    expect((conflict as Error).message).toContain("Conflict: The number WEB-5 belongs to another sale");
    expect((conflict as Error).message).toContain("What differs: lines[0].quantity: 9, before 2.");
    expect(rootOf(conflict)).toMatchObject({ name: "ApplicationFailure", type: "Conflict" });
    const refund = { reason: "06", traderInvoiceNumber: "CN" } as const;
    const unknown = await failureOf(await ask({ refund: { invoice: "NOBODY", refund } }));
    expect(unknown).toMatchObject({ type: "NOT_FOUND", retryable: false });
    expect(rig.simulator.documents("WEB-4")).toEqual([]);
  });

  test("is refused a business that is not served, as everybody is at each other door, and nothing is sent", async () => {
    rig.simulator.addBusiness({
      id: "biz_2",
      name: "Another shop",
      branches: [{ id: "branch_9", authorityBhfId: "00" }],
    });
    rig.simulator.addItem({ id: "item_2", businessId: "biz_2", name: "Of another shop", unitPrice: 350 });
    const lines = [{ itemId: "item_2", quantity: 1, unitPrice: 350 }];
    const other = (invoice: string): SaleInput => sale(invoice, { businessId: "biz_2", lines, refundWindow: "0" });
    const failed = async (work: Promise<unknown>): Promise<unknown> =>
      rootOf(await work.catch((error: unknown) => error));
    const starter = createStarter({ client: rig.client, ...starterSettings(rig.config) });
    const direct = await startDirectly("sale/default/biz_2/OTHER-2", other("OTHER-2"));
    const job = await rig.client.workflow.start("registerItems", {
      workflowId: "register-items/default/biz_2",
      taskQueue: MAIN_TASK_QUEUE,
      args: [{ businessId: "biz_2" }],
    });
    const refusals = {
      starter: await failed(starter.startSaleAndWait(other("OTHER-1"))),
      temporal: await failed(direct.result()),
      job: await failed(job.result()),
      nexus: rootOf(await failureOf(await ask({ sale: other("OTHER-4") })).catch((error: unknown) => error)),
    };
    const words = expect.stringMatching(/"biz_2".+connection "default".+nothing was sent\. Served: biz_1\./);
    const failure = { type: "UnknownBusiness", nonRetryable: true, message: words };
    const requests = rig.simulator.calls().filter(({ businessId }) => businessId === "biz_2").length;
    expect({ ...refusals, requests }).toMatchObject({
      starter: { code: "UnknownBusiness", businesses: ["biz_1"], message: words },
      temporal: failure,
      job: failure,
      nexus: failure,
      requests: 0,
    });
  });

  test("receives that an operator is needed, and once the item is there the outcome", async () => {
    const odd = sale("WEB-6", { lines: [{ ...TEA, itemId: "item_of_nobody" }] });
    expect(await outcomeOf({ sale: odd })).toMatchObject({ attention: { code: "item-unknown" } });
    rig.simulator.addItem({ id: "item_of_nobody", businessId: "biz_1", name: "Found after all", unitPrice: 350 });
    await rig.stateWhen("WEB-6", ({ stage }) => stage === "completed");
    expect(await outcomeOf({ sale: odd })).toMatchObject({ stage: "completed" });
  });

  describe("that reverses a sale", () => {
    const refundOf = (invoice: string) => ({
      refund: { invoice, refund: { reason: "06", traderInvoiceNumber: `CN-${invoice}` } as const },
    });

    test.each([
      ["while its refund window is open", "WEB-7", "1 hour"],
      ["after its refund window", "WEB-8", "0"],
    ])(
      "%s receives the signed credit note, and a repeated request issues no second one",
      async (_when, invoice, refundWindow) => {
        await outcomeOf({ sale: sale(invoice, { refundWindow }) });
        if (refundWindow === "0") await result(invoice);
        rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "accept", afterMs: 1_000 }]);
        const [first, second] = await Promise.all([outcomeOf(refundOf(invoice)), outcomeOf(refundOf(invoice))]);
        const credited = {
          stage: "credited",
          creditNote: { traderInvoiceNumber: `CN-${invoice}`, status: "completed" },
        };
        expect(first).toMatchObject(credited);
        expect(second).toMatchObject(credited);
        expect(rig.simulator.documents(`CN-${invoice}`)).toHaveLength(1);
        expect(await outcomeOf(refundOf(invoice))).toMatchObject({ creditNote: credited.creditNote });
      },
    );

    test("by another one receives both, the corrected sale signed", async () => {
      await outcomeOf({ sale: sale("WEB-17") });
      rig.simulator.setAuthority("WEB-18", [{ do: "accept", afterMs: 1_000 }]);
      const { refund } = refundOf("WEB-17");
      const corrected = {
        ...refund,
        refund: { ...refund.refund, replaceWith: { traderInvoiceNumber: "WEB-18", lines: [TEA] } },
      };
      expect(await outcomeOf({ refund: corrected })).toMatchObject({
        stage: "credited",
        correction: { correctedBy: "WEB-18", stage: "corrected" },
      });
      expect(rig.simulator.documents("WEB-18")).toMatchObject([{ status: "completed" }]);
    });
  });

  test("that cancels its wait ends only that wait: the sale goes on, and other callers receive the outcome", async () => {
    rig.simulator.setAuthority("WEB-9", [{ do: "down" }]);
    const [leaves, stays] = await Promise.all([ask({ sale: sale("WEB-9") }), ask({ sale: sale("WEB-9") })]);
    await expect.poll(() => waiting("WEB-9")).toHaveLength(2);
    await rig.stateWhen("WEB-9", ({ stage }) => stage === "awaiting-authority");
    const waitingFor = `the outcome of ${handleOf("WEB-9").workflowId}`;
    const [wait] = await waiting("WEB-9");
    expect(await wait?.query(STATE_QUERY)).toMatchObject({ waitingFor, progress: { answered: false } });
    await leaves.signal(giveUp);
    expect(await failureOf(leaves)).toBeInstanceOf(CancelledFailure);
    rig.simulator.setAuthority("WEB-9", [{ do: "accept" }]);
    expect(await stays.result()).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("WEB-9")).toHaveLength(1);
  });

  test("receives that a sale was terminated, and does not wait for ever", async () => {
    rig.simulator.setAuthority("WEB-10", [{ do: "down" }]);
    const handle = await ask({ sale: sale("WEB-10") });
    await expect.poll(() => waiting("WEB-10")).toHaveLength(1);
    await rig.stateWhen("WEB-10", ({ stage }) => stage === "awaiting-authority");
    await handleOf("WEB-10").terminate("a test");
    const failure = await failureOf(handle);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type: "Failed", nonRetryable: true });
  });

  test("receives one outcome of one document where the worker is killed on the way", async () => {
    await rig.stopWorkers();
    rig.simulator.setAuthority("WEB-11", [{ do: "down" }]);
    const victim = spawn(process.execPath, [MAIN, "worker"], {
      env: { PATH: process.env["PATH"], ...env },
      stdio: "ignore",
    });
    const handle = await ask({ sale: sale("WEB-11") });
    await expect.poll(() => waiting("WEB-11")).toHaveLength(1);
    await expect.poll(() => rig.simulator.documents("WEB-11")).toHaveLength(1);
    victim.kill("SIGKILL");
    await once(victim, "exit");
    rig.simulator.setAuthority("WEB-11", [{ do: "accept" }]);
    await rig.startWorkers();
    const outcome = await handle.result();
    const [document] = rig.simulator.documents("WEB-11");
    const told = { stage: "completed", sale: { id: document?.id }, receipt: outcome.receipt };
    expect(outcome).toMatchObject(told);
    const { events } = await handle.fetchHistory();
    expect((events ?? []).filter((event) => event.nexusOperationCompletedEventAttributes)).toHaveLength(1);
    // The kill may come before the answer is kept: then the same bytes are sent again, under the same key.
    const sent = rig.simulator.calls().filter((call) => call.operation === "createSale" && call.invoice === "WEB-11");
    expect(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    expect(rig.simulator.documents("WEB-11")).toHaveLength(1);
    expect(await waiting("WEB-11")).toHaveLength(1);
    expect(await outcomeOf({ sale: sale("WEB-11") })).toMatchObject(told);
  });
});
