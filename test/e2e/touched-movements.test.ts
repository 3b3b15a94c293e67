import { defaultPayloadConverter } from "@temporalio/common";
import { afterAll, beforeAll, expect, test } from "vitest";

import { endLostActivities } from "../../src/worker/end-lost-activities.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { Held } from "../rig/held.ts";
import { PATIENCE_MS } from "../rig/patience.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";

const EXECUTIONS = 2;

/**
 * With the buttons of Temporal's UI, or with `temporal activity`, an operator can have the code of one activity run
 * twice, or end it while it runs. Neither moves the goods twice.
 */
describeWithTemporal("a stock movement whose activity an operator touches", () => {
  let rig: Rig;
  /** By reference: the execution that waits between the answer and the claim, and fails there by a defect. */
  const failing = new Map<string, Held>();
  /** The same without the defect. */
  const settling = new Map<string, Held>();
  /** What executions have said of what became of their try. */
  const outcomes: string[] = [];
  /** By reference: the execution that stands still between its claim and the request until it is released. */
  const standing = new Map<string, Held>();
  const removed = (held: Map<string, Held>, referenceId: string): Held | undefined => {
    const one = held.get(referenceId);
    held.delete(referenceId);
    return one;
  };
  beforeAll(async () => {
    rig = await startRig({
      receiver: false,
      timings: { callTimeoutMs: 1_000 },
      withLedger: (real) => ({
        ...real,
        stock: {
          ...real.stock,
          take: async (request) => {
            const answer = await real.stock.take(request);
            await removed(standing, request.referenceId)?.pass(() => Promise.resolve());
            return answer;
          },
          settle: async (request) => {
            await removed(failing, request.referenceId)?.pass(() => {
              throw new TypeError("a defect after the answer");
            });
            await removed(settling, request.referenceId)?.pass(() => Promise.resolve());
            outcomes.push(`${request.referenceId} ${request.generation} ${request.outcome.kind}`);
            return await real.stock.settle(request);
          },
        },
      }),
    });
  });
  afterAll(() => rig?.close());

  const { start, parked, handleOf, movementsOf } = salesOf(() => rig);
  const { fiscalflow, report } = viewsOf(() => rig);
  const referenceOf = (invoice: string): string => `${invoice}/item_tea/sold`;

  /** The sale's movement, while its activity runs. */
  async function running(invoice: string) {
    let id = "";
    await expect
      .poll(async () => {
        const { raw } = await handleOf(invoice).describe();
        const pending = raw.pendingActivities?.find(({ activityType }) => activityType?.name === "adjustStock");
        id = pending?.lastStartedTime ? (pending.activityId ?? "") : "";
        return id;
      })
      .not.toBe("");
    const execution = { workflowId: rig.starter.workflowId({ invoice }) };
    return { namespace: rig.namespace, execution, id, identity: "operator" };
  }

  /** Its movement is made, and its activity will fail once the defect is let happen. */
  async function madeAndFailing(invoice: string) {
    const defect = new Held();
    failing.set(referenceOf(invoice), defect);
    await start(invoice);
    await rig.simulator.until(() => movementsOf(invoice).length === 1);
    return { activity: await running(invoice), fail: () => defect.release() };
  }

  /** An operator is asked, and says that it was applied. */
  async function decidedAsApplied(invoice: string) {
    expect(await parked(invoice, "stock-unknown")).toMatchObject({ stockMovements: [{ state: "unknown" }] });
    const answer = { referenceId: referenceOf(invoice), applied: true, note: "seen in the journal" };
    await rig.starter.resolveStock({ invoice }, answer);
    expect(await handleOf(invoice).result()).toMatchObject({ stockMovements: [{ state: "applied" }] });
    return movementsOf(invoice);
  }

  test("is sent once, and unknown, where it is given more attempts", async () => {
    const { activity, fail } = await madeAndFailing("ATTEMPTS-1");
    await rig.client.workflowService.updateActivityOptions({
      ...activity,
      activityOptions: { retryPolicy: { maximumAttempts: EXECUTIONS } },
      updateMask: { paths: ["retry_policy.maximum_attempts"] },
    });
    fail();
    expect(await decidedAsApplied("ATTEMPTS-1")).toHaveLength(1);
  });

  test("is sent once, and unknown, where it is paused and fails, and is unpaused", async () => {
    const { activity, fail } = await madeAndFailing("PAUSED-1");
    await rig.client.workflowService.pauseActivity({ ...activity, reason: "it hangs" });
    fail();
    const isPaused = async (): Promise<boolean | undefined> => {
      const { raw } = await handleOf("PAUSED-1").describe();
      return raw.pendingActivities?.some(({ paused, lastFailure }) => paused === true && Boolean(lastFailure));
    };
    await expect.poll(isPaused).toBe(true);
    await rig.client.workflowService.unpauseActivity(activity);
    expect(await decidedAsApplied("PAUSED-1")).toHaveLength(1);
  });

  test("is unknown in the end, where it is paused as it runs, its worker is lost, and it is unpaused", async () => {
    const invoice = "PAUSED-2";
    const worker = new Held();
    settling.set(referenceOf(invoice), worker);
    await start(invoice);
    await rig.simulator.until(() => movementsOf(invoice).length === 1);
    const activity = await running(invoice);
    await rig.client.workflowService.pauseActivity({ ...activity, reason: "it hangs" });
    // The server looks at the start-to-close timeout once, and drops it because of the pause.
    const isTimeOver = async (): Promise<boolean> => {
      const { raw } = await handleOf(invoice).describe();
      const [{ lastStartedTime, activityOptions } = {}] = raw.pendingActivities ?? [];
      const seconds = Number(lastStartedTime?.seconds) + Number(activityOptions?.startToCloseTimeout?.seconds);
      return Date.now() > (seconds + 2) * 1_000;
    };
    await expect.poll(isTimeOver, { timeout: 4 * PATIENCE_MS, interval: 1_000 }).toBe(true);
    await rig.client.workflowService.unpauseActivity(activity);
    // What every worker process does, sooner: a real attempt is given a minute more.
    const { client, ledger } = rig;
    const log = { warn: () => undefined };
    const end = endLostActivities({ client, ledger, identity: "worker", log, everyMs: 500, lateMs: 2_000 });
    try {
      const isAsked = async (): Promise<boolean> => (await rig.starter.getSale({ invoice })).attentions.length > 0;
      await expect.poll(isAsked, { timeout: 4 * PATIENCE_MS }).toBe(true);
      expect(await decidedAsApplied(invoice)).toHaveLength(1);
    } finally {
      await end();
      worker.release();
    }
  });

  test("is sent once, and unknown, where it is reset", async () => {
    const { activity, fail } = await madeAndFailing("RESET-1");
    await rig.client.workflowService.resetActivity(activity);
    fail();
    expect(await decidedAsApplied("RESET-1")).toHaveLength(1);
  });

  test.each([null, {}, "done", { kind: "done" }, { kind: "applied" }].map((result, index) => [result, index] as const))(
    "is sent once, and is what its claim says, where it is completed with %j",
    async (result, index) => {
      const invoice = `COMPLETED-${index}`;
      const worker = new Held();
      settling.set(referenceOf(invoice), worker);
      await start(invoice);
      await rig.simulator.until(() => movementsOf(invoice).length === 1);
      const { execution, id, ...by } = await running(invoice);
      await rig.client.workflowService.respondActivityTaskCompletedById({
        ...by,
        ...execution,
        activityId: id,
        result: { payloads: [defaultPayloadConverter.toPayload(result)] },
      });
      await parked(invoice, "stock-unknown");
      worker.release();
      expect(await handleOf(invoice).result()).toMatchObject({
        stockMovements: [{ state: "applied", movementId: movementsOf(invoice)[0]?.movementId }],
      });
      expect(movementsOf(invoice)).toHaveLength(1);
    },
  );

  /** Its worker stands still before it sends; Temporal has given it up, and an operator has said "not applied". */
  async function decidedWhileItStands(invoice: string) {
    const worker = new Held();
    standing.set(referenceOf(invoice), worker);
    await start(invoice);
    const { execution, id, ...by } = await running(invoice);
    await expect.poll(() => standing.has(referenceOf(invoice))).toBe(false);
    const lost = { message: "the worker is gone", applicationFailureInfo: { nonRetryable: true } };
    await rig.client.workflowService.respondActivityTaskFailedById({
      ...by,
      ...execution,
      activityId: id,
      failure: lost,
    });
    await parked(invoice, "stock-unknown");
    const answer = { referenceId: referenceOf(invoice), applied: false, note: "not in the journal" };
    await rig.starter.resolveStock({ invoice }, answer);
    const key = { ...BUSINESS, referenceId: answer.referenceId };
    await expect.poll(async () => (await rig.ledger.stock.read(key)).kind).toBe("superseded");
    return worker;
  }

  test("is not sent by a worker that goes on after the next try", async () => {
    const worker = await decidedWhileItStands("STILL-1");
    expect(await handleOf("STILL-1").result()).toMatchObject({ stockMovements: [{ state: "applied" }] });
    expect(movementsOf("STILL-1")).toHaveLength(1);
    worker.release();
    await expect.poll(() => outcomes).toContain(`${referenceOf("STILL-1")} 1 not-applied`);
    expect(movementsOf("STILL-1")).toHaveLength(1);
  });

  test("is sent once by a worker that goes on before the next try, and contradicts the operator, who is told", async () => {
    const worker = await decidedWhileItStands("STILL-2");
    worker.release();
    await rig.simulator.until(() => movementsOf("STILL-2").length === 1);
    const movementId = movementsOf("STILL-2")[0]?.movementId ?? "";
    const { attentions } = await parked("STILL-2", "unexpected-answer");
    expect(attentions).toMatchObject([
      {
        subject: referenceOf("STILL-2"),
        message: expect.stringContaining(`decided that it was not applied, and a late answer says otherwise`),
        evidence: { decision: { applied: false, note: "not in the journal" }, lateAnswer: { movementId } },
        resolvedBy: ["acknowledge"],
      },
    ]);
    expect((await fiscalflow("doctor")).stdout).toContain(
      `the movement ${referenceOf("STILL-2")} was decided as not applied`,
    );
    await rig.starter.acknowledge({ invoice: "STILL-2" }, { code: "unexpected-answer", note: "the journal has one" });
    expect(await handleOf("STILL-2").result()).toMatchObject({ stockMovements: [{ state: "applied", movementId }] });
    expect(movementsOf("STILL-2")).toHaveLength(1);
    expect((await report()).movements).toMatchObject([{ itemId: "item_tea", disputed: 1 }]);
  });
});
