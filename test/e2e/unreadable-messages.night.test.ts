import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { MAIN_TASK_QUEUE } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf, saleOfTea } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

interface Payload {
  metadata: Record<string, Uint8Array>;
  data: Uint8Array;
}

function payload(encoding: string | undefined, data: string): Payload {
  return { metadata: encoding === undefined ? {} : { encoding: Buffer.from(encoding) }, data: Buffer.from(data) };
}

/** As Temporal's UI, its command line, and clients of other languages with a codec of their own can send them. */
const UNREADABLE: Readonly<Record<string, Payload>> = {
  "text that is not JSON": payload("json/plain", "not json"),
  "a Protocol Buffers message": payload("json/protobuf", "{}"),
  "what a codec has encrypted": payload("binary/encrypted", "xxxx"),
  "no encoding at all": payload(undefined, "{}"),
};
const PAYLOADS = Object.values(UNREADABLE);

describeWithTemporal("a message that cannot be read", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start, handleOf, result, movementsOf } = salesOf(() => rig);

  async function inFlight(invoice: string): Promise<void> {
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    await start(invoice, { stock: "off" });
    await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
  }

  async function signal(invoice: string, signalName: string, input: Payload): Promise<void> {
    await rig.client.workflowService.signalWorkflowExecution({
      namespace: rig.namespace,
      workflowExecution: { workflowId: rig.starter.workflowId({ invoice }) },
      signalName,
      requestId: randomUUID(),
      input: { payloads: [input] },
    });
  }

  async function failedTasks(invoice: string): Promise<number> {
    const { events } = await handleOf(invoice).fetchHistory();
    // A reset is a failed task in the history of the new run.
    return (events ?? []).filter(({ workflowTaskFailedEventAttributes: failed }) => failed && !failed.newRunId).length;
  }

  test("changes nothing, whatever its name, and is counted where an operator looks, also after a reset", async () => {
    const invoice = "UNREAD-1";
    await inFlight(invoice);
    for (const name of ["callbackReceived", "refundRequested", "creditNoteChanged", "nobodyKnows", "__temporal_mine"])
      for (const one of PAYLOADS) await signal(invoice, name, one);
    // One that can be read, of a name that the workflow does not have.
    await signal(invoice, "nobodyKnows", payload("json/plain", "{}"));
    const sent = 5 * PAYLOADS.length + 1;
    const state = await rig.stateWhen(invoice, ({ unreadMessages }) => unreadMessages === sent);
    expect(state).toMatchObject({ stage: "awaiting-authority", callbacksReceived: 0 });
    expect(state.refund).toBeUndefined();
    const details = await handleOf(invoice).query<{ currentDetails?: string }>("__temporal_workflow_metadata");
    expect(details.currentDetails).toContain(`${sent} messages could not be read`);
    expect(await failedTasks(invoice)).toBe(0);

    await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice }), "last-task");
    rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
    expect(await result(invoice)).toMatchObject({ stage: "completed" });
    expect(await failedTasks(invoice)).toBe(0);
  });

  test("is not waited for by what can be read beside it", async () => {
    const invoice = "UNREAD-2";
    await inFlight(invoice);
    const [unreadable = payload(undefined, "")] = PAYLOADS;
    const sent = Array.from({ length: 40 }, (_, n) =>
      signal(invoice, "callbackReceived", n % 2 === 0 ? unreadable : payload("json/plain", "{}")),
    );
    await Promise.all(sent);
    await rig.stateWhen(invoice, (state) => state.callbacksReceived === 20 && state.unreadMessages === 20);
    rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
    expect(await result(invoice)).toMatchObject({ stage: "completed" });
  });

  describe.each(Object.entries(UNREADABLE))("with %s", (what, one) => {
    test("is refused where it is an update", async () => {
      const invoice = `UNREAD-UPDATE-${what.replaceAll(" ", "-")}`;
      await inFlight(invoice);
      for (const name of ["outcome", "cancel", "retry", "refund", "resolveStock"]) {
        const answer = await rig.client.workflowService.updateWorkflowExecution({
          namespace: rig.namespace,
          workflowExecution: { workflowId: rig.starter.workflowId({ invoice }) },
          waitPolicy: { lifecycleStage: 3 },
          request: { meta: { updateId: randomUUID() }, input: { name, args: { payloads: [one] } } },
        });
        expect(answer.outcome?.failure).toMatchObject({
          message: expect.stringMatching(/cannot be read.*one JSON object/),
          applicationFailureInfo: { type: "InvalidInput", nonRetryable: true },
        });
      }
      rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
      expect(await result(invoice)).toMatchObject({ stage: "completed" });
    });

    test("changes nothing in the answer of a query", async () => {
      const invoice = `UNREAD-QUERY-${what.replaceAll(" ", "-")}`;
      await inFlight(invoice);
      const answer = await rig.client.workflowService.queryWorkflow({
        namespace: rig.namespace,
        execution: { workflowId: rig.starter.workflowId({ invoice }) },
        query: { queryType: "state", queryArgs: { payloads: [one] } },
      });
      const [state] = answer.queryResult?.payloads ?? [];
      expect(JSON.parse(Buffer.from(state?.data ?? []).toString())).toMatchObject({ stage: "awaiting-authority" });
      rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
      await result(invoice);
    });

    test.each(["sale", "registerItems", "syncPurchases", "findSale"])(
      "fails a %s that it is to start",
      async (type) => {
        const workflowId = `unreadable/${type}/${what}`;
        await rig.client.workflowService.startWorkflowExecution({
          namespace: rig.namespace,
          workflowId,
          requestId: randomUUID(),
          workflowType: { name: type },
          taskQueue: { name: MAIN_TASK_QUEUE },
          input: { payloads: [one] },
        });
        await expect(rig.client.workflow.getHandle(workflowId).result()).rejects.toMatchObject({
          cause: { type: "InvalidInput", message: expect.stringMatching(/input cannot be read.*one JSON object/) },
        });
      },
    );

    test("is no reason to fail where it stands in a sale's memo", async () => {
      const invoice = `UNREAD-MEMO-${what.replaceAll(" ", "-")}`;
      await rig.client.workflowService.startWorkflowExecution({
        namespace: rig.namespace,
        workflowId: rig.starter.workflowId({ invoice }),
        requestId: randomUUID(),
        workflowType: { name: "sale" },
        taskQueue: { name: MAIN_TASK_QUEUE },
        input: { payloads: [payload("json/plain", JSON.stringify(saleOfTea(invoice)))] },
        memo: { fields: { restarted: one, fingerprint: one, anything: one } },
      });
      expect(await result(invoice)).toMatchObject({ stage: "completed" });
      // The client's own list, by which the suite replays its histories, fails upon such a memo.
      await forgetWorkflow(rig, rig.starter.workflowId({ invoice }));
    });

    test("leaves a movement to its claim where an operator completes its activity with it", async () => {
      const invoice = `UNREAD-RESULT-${what.replaceAll(" ", "-")}`;
      const referenceId = `${invoice}/item_tea/sold`;
      rig.simulator.inject({
        operation: "adjustStock",
        when: "before",
        kind: "slow",
        delayMs: 3_000,
        match: { referenceId },
        times: 1,
      });
      await start(invoice);
      const pending = async (): Promise<string | undefined> => {
        const { raw } = await handleOf(invoice).describe();
        const found = raw.pendingActivities?.find(
          ({ activityType, attempt }) => activityType?.name === "adjustStock" && (attempt ?? 0) > 0,
        );
        return found?.activityId ?? undefined;
      };
      await expect.poll(pending).toBeDefined();
      await rig.stateWhen(invoice, ({ stockMovements }) => stockMovements[0]?.state === "sending");
      await rig.simulator.until(() => rig.callsOf(invoice).includes("adjustStock"));
      await rig.client.workflowService.respondActivityTaskCompletedById({
        namespace: rig.namespace,
        workflowId: rig.starter.workflowId({ invoice }),
        activityId: (await pending()) ?? "",
        result: { payloads: [one] },
      });
      // The call itself is under way, and its worker says in the claim what became of it.
      expect(await result(invoice)).toMatchObject({ stockMovements: [{ state: "applied" }] });
      expect(await rig.starter.getSale({ invoice })).toMatchObject({ attentions: [], decisions: [] });
      expect(movementsOf(invoice)).toMatchObject([{ referenceId }]);
    });
  });

  test.each([1.23456789, 1e-12, -0, 0.0011111111111, 59.99999999999999])(
    "does not include an odd number of seconds to wait: %d",
    async (waitSeconds) => {
      const invoice = `UNREAD-WAIT-${String(waitSeconds).replaceAll(".", "-")}-${Object.is(waitSeconds, -0)}`;
      await inFlight(invoice);
      const outcome = handleOf(invoice).executeUpdate("outcome", { args: [{ waitSeconds }] });
      if (waitSeconds > 10) rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
      expect(await outcome).toMatchObject({ stage: expect.any(String) });
      rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
      await result(invoice);
      expect(await failedTasks(invoice)).toBe(0);
    },
  );
});
