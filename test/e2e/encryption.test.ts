import { Client, type Connection } from "@temporalio/client";
import proto from "@temporalio/proto";
import { afterAll, beforeAll, expect, test } from "vitest";

import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { MAIN_TASK_QUEUE, WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const key = (id: string, byte: number): string => `${id}:${Buffer.alloc(32, byte).toString("base64")}`;
const OLD = key("old", 1);
const NEW = key("new", 2);
const BUYER = "Njeri Mwangi";
const customer = { name: BUYER, phone: "+254700000001" };
const TROUBLE = { operation: "createSale", when: "before", kind: "status", status: 503 } as const;

describeWithTemporal("with payload keys", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ env: { FISCALFLOW_PAYLOAD_KEYS: `${NEW},${OLD}` } });
  });
  afterAll(() => rig?.close());

  const { sell, start } = salesOf(() => rig);
  const cli = (argv: string[], more: Record<string, string> = {}): Promise<CliResult> =>
    callCli(argv, { env: { ...commandEnv(rig), ...more } });

  /** All that Temporal has of a sale's run, as bytes. */
  async function keptOf(invoice: string): Promise<Buffer> {
    const plain = new Client({ connection: rig.client.connection as Connection, namespace: rig.namespace });
    const { workflow, temporal } = { workflow: plain.workflow, temporal: proto.temporal.api };
    const execution = { workflowId: rig.starter.workflowId({ invoice }) };
    const request = { namespace: rig.namespace, execution };
    const described = await plain.workflowService.describeWorkflowExecution(request);
    const history = await workflow.getHandle(execution.workflowId).fetchHistory();
    return Buffer.concat([
      temporal.workflowservice.v1.DescribeWorkflowExecutionResponse.encode(described).finish(),
      temporal.history.v1.History.encode(history).finish(),
    ]);
  }

  test("a sale ends with its receipt, and Temporal has nothing of the buyer", async () => {
    rig.simulator.setAuthority("SECRET-1", [{ do: "accept", afterMs: 200 }]);
    const outcome = await sell("SECRET-1", { customer });
    expect(outcome).toMatchObject({ stage: "completed", sale: { customer }, receipt: { receiptLabel: "NS" } });
    const kept = await keptOf("SECRET-1");
    expect(kept.includes("encryption-key-id")).toBe(true);
    expect(kept.includes("createSale")).toBe(true);
    for (const words of [BUYER, customer.phone, "item_tea"]) expect(kept.includes(words)).toBe(false);
  });

  test("a pending call's trouble is encrypted, and shown by sale show with the timeline", async () => {
    const end = rig.simulator.inject({ ...TROUBLE, body: { error: { code: "busy", message: `No, ${BUYER}` } } });
    const sale = await start("SECRET-2", { customer });
    const state = await rig.stateWhen("SECRET-2", ({ serviceTrouble }) => serviceTrouble !== undefined);
    expect(JSON.stringify(state)).toContain(BUYER);
    const kept = await keptOf("SECRET-2");
    expect(kept.includes("Encoded failure")).toBe(true);
    expect(kept.includes(BUYER)).toBe(false);
    const { exitCode, stdout, stderr } = await cli(["sale", "show", "SECRET-2"]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`No, ${BUYER}`);
    end();
    await sale.result();
    const after = await cli(["sale", "show", "SECRET-2"]);
    expect(after.stdout).toContain("Issue the sale SECRET-2: completed");
  });

  test("a workflow's own failure is encrypted, and told to a caller who has the keys", async () => {
    const workflowId = rig.starter.workflowId({ invoice: "SECRET-3" });
    const input = { businessId: "biz_1", traderInvoiceNumber: "SECRET-3", lines: [], customer };
    const options = { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [input] };
    const handle = await rig.client.workflow.start(WORKFLOW_TYPES.sale, options);
    await expect(handle.result()).rejects.toMatchObject({ cause: { message: expect.stringContaining("lines") } });
    const kept = await keptOf("SECRET-3");
    expect(kept.includes("Encoded failure")).toBe(true);
    const state = await rig.starter.getSale({ invoice: "SECRET-3" });
    expect(state.closed).toMatchObject({ status: "failed", reason: expect.stringContaining("lines") });
  });

  test("what was written by the old key, or plain, is read", async () => {
    const of = (...keys: string[]) => ({ FISCALFLOW_PAYLOAD_KEYS: keys.join(",") });
    const lines = [{ sku: "TEA-500", quantity: 1, unitPrice: 350 }];
    for (const [invoice, env] of [
      ["SECRET-4", of(OLD)],
      ["SECRET-5", of()],
    ] as const) {
      const stdin = JSON.stringify({ traderInvoiceNumber: invoice, lines, customer });
      const started = await callCli(["sale", "start", "-"], { env: { ...commandEnv(rig), ...env }, stdin });
      expect([started.exitCode, started.stderr]).toEqual([0, ""]);
      expect(await rig.starter.outcome({ invoice }, { waitSeconds: 20 })).toMatchObject({ stage: "completed" });
    }
    expect((await keptOf("SECRET-5")).includes(BUYER)).toBe(true);
  });

  test("a run whose key nobody here has hides no other from lists, nor from who marks what ended", async () => {
    const end = rig.simulator.inject(TROUBLE);
    await start("SECRET-7");
    const stdin = JSON.stringify({
      traderInvoiceNumber: "SECRET-8",
      lines: [{ sku: "TEA-500", quantity: 1, unitPrice: 350 }],
    });
    const env = { ...commandEnv(rig), FISCALFLOW_PAYLOAD_KEYS: key("strange", 3) };
    expect(await callCli(["sale", "start", "-"], { env, stdin })).toMatchObject({ exitCode: 0 });
    await expect.poll(() => cli(["sale", "list"])).toMatchObject({ exitCode: 0, stderr: "" });
    for (const invoice of ["SECRET-8", "SECRET-7"])
      await rig.client.workflow.getHandle(rig.starter.workflowId({ invoice })).terminate("by mistake");
    await expect
      .poll(() => cli(["sale", "list"]))
      .toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/SECRET-7 .*\(terminated\)/) });
    end();
    // The rig reads each history in the end.
    const { namespace } = rig;
    const workflowExecution = { workflowId: rig.starter.workflowId({ invoice: "SECRET-8" }) };
    await rig.client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution });
    const query = `WorkflowId = "${workflowExecution.workflowId}"`;
    await expect.poll(() => rig.client.workflow.count(query)).toMatchObject({ count: 0 });
  });

  test("a worker that lacks a key of an open workflow ends with 2 before it polls, and names it", async () => {
    const end = rig.simulator.inject(TROUBLE);
    const sale = await start("SECRET-6", { customer });
    const stop = AbortSignal.timeout(60_000);
    for (const keys of [OLD, ""]) {
      const env = { ...commandEnv(rig), FISCALFLOW_PAYLOAD_KEYS: keys };
      await expect
        .poll(() => callCli(["worker"], { env, signal: stop }))
        .toMatchObject({
          exitCode: 2,
          stderr: expect.stringContaining('FISCALFLOW_PAYLOAD_KEYS: lacks the key "new", which open workflows need'),
        });
    }
    end();
    await sale.result();
  });
});
