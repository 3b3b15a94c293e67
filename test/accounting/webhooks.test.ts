import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { createCallbackReceiver, createTemporalSignaller } from "../../src/callbacks/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { wantedSchedules } from "../../src/cli/setup/setup.ts";
import {
  type JobState,
  MAIN_TASK_QUEUE,
  STATE_QUERY,
  syncBillPaymentsWorkflowId,
  UPDATES,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { webhookSources } from "../../src/worker/run-callbacks-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { differences, ledgersBooks, simulatorsBooks } from "./books.ts";

const SECRET = "whsec_development_of-the-tests";
const WEBHOOK = { enabled: true, timestampHeader: "X-Timestamp", signed: "timestamp+body", eventId: "id" };

describeWithTemporal("a webhook of the accounting service", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({
      accounting: true,
      receiver: false,
      simulator: { accountingDialect: { webhook: WEBHOOK }, scenario: { accounting: { generatedBillPayments: 20 } } },
    });
  });
  afterAll(() => rig.close());

  async function receiverUrl(): Promise<string> {
    const { accounting } = loadConfig({
      env: {
        ACCOUNTING_BASE_URL: rig.simulator.accounting.url,
        ACCOUNTING_API_KEY: "sk_development_simulator",
        ACCOUNTING_WEBHOOK_SECRET: `whsec_development_newer,${SECRET}`,
        ACCOUNTING_DIALECT: JSON.stringify({ webhook: WEBHOOK }),
      },
    });
    const receiver = createCallbackReceiver({
      secrets: ["a secret of the callbacks, which is another"],
      webhooks: webhookSources(accounting),
      client: createTemporalSignaller(rig.client),
      log: { debug() {}, warn() {} },
    });
    onTestFinished(() => receiver.close());
    await receiver.listen({ host: "127.0.0.1", port: 0 });
    return `http://127.0.0.1:${(receiver.server.address() as AddressInfo).port}/webhooks/accounting/default`;
  }

  test("starts a synchronisation, unless it is altered, out of date or signed with another secret", async () => {
    const { accounting } = rig.simulator;
    const webhook = { url: await receiverUrl(), secret: SECRET, event: { type: "bill_payment.updated" } };
    const nowMs = Date.now();
    for (const spoiled of [
      { flippedByte: 5 },
      { timestampMs: nowMs - 6 * 60_000 },
      { timestampMs: nowMs + 6 * 60_000 },
      { secret: "whsec_development_another" },
    ])
      expect((await accounting.sendWebhook({ ...webhook, ...spoiled })).responseStatus).toBe(401);
    expect(accounting.calls()).toEqual([]);

    const sent = await accounting.sendWebhook(webhook);
    expect(sent.responseStatus).toBe(202);
    const handle = rig.client.workflow.getHandle(syncBillPaymentsWorkflowId("default"));
    expect(await handle.result()).toMatchObject({ added: 20, settled: true });
    expect(differences(simulatorsBooks(rig.simulator), await ledgersBooks(rig.config))).toEqual([]);

    const calls = accounting.calls().length;
    expect((await accounting.sendWebhook({ ...webhook, eventId: sent.eventId })).responseStatus).toBe(202);
    accounting.changeBillPayment("bp_0000003", { note: "by webhook" });
    expect((await accounting.sendWebhook(webhook)).responseStatus).toBe(202);
    await expect.poll(() => handle.result()).toMatchObject({ kind: "recent", changed: 1 });
    expect(accounting.calls().length).toBeGreaterThan(calls);
  });

  test("does not keep the daily full synchronisation from being made, however many there are", async () => {
    const { accounting } = rig.simulator;
    const workflowId = syncBillPaymentsWorkflowId("default");
    // Stands for one that never ends, since each webhook asks for another pass.
    accounting.setApplication("simulator", { denied: ["listBillPayments"] });
    expect(await createTemporalSignaller(rig.client).requestSync("default")).toBe("delivered");
    const running = rig.client.workflow.getHandle(workflowId);
    const code = async () => (await running.query<JobState<object>>(STATE_QUERY)).attentions[0]?.code;
    await expect.poll(code).toBe("credentials");
    const daily = wantedSchedules(rig.config).schedules.find(({ input }) => {
      return input.workflowId === workflowId && input.input.full === true;
    });
    const scheduled = await rig.client.workflow.start(WORKFLOW_TYPES.scheduled, {
      workflowId: `scheduled-${workflowId}`,
      taskQueue: MAIN_TASK_QUEUE,
      args: [daily?.input],
    });
    expect(await scheduled.result()).toBe("asked");
    accounting.setApplication("simulator", { denied: [] });
    await running.executeUpdate(UPDATES.retry, { args: [{ note: "authorized" }] });
    expect(await running.result()).toMatchObject({ kind: "full", settled: true });
  });
});
