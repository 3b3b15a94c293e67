import { defaultPayloadConverter } from "@temporalio/common";
import { afterAll, beforeAll, expect, test } from "vitest";

import { endLostActivities } from "../../src/worker/each-minute.ts";
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
  /** By reference: the execution that has not asked for its claim yet. */
  const coming = new Map<string, Held>();
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
            await removed(coming, request.referenceId)?.pass(() => Promise.resolve());
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

  /** Somebody fails its activity in Temporal's UI, while its worker is at it. */
  async function failByHand({ namespace, execution, id: activityId, identity }: Awaited<ReturnType<typeof running>>) {
    const failure = { message: "the worker is gone", applicationFailureInfo: { nonRetryable: true } };
    const by = { namespace, ...execution, activityId, identity };
    await rig.client.workflowService.respondActivityTaskFailedById({ ...by, failure });
  }

  /** Its claim is looked at, and nobody is asked while an execution may be at it. */
  async function waitedFor(invoice: string): Promise<void> {
    const looksSaid = async (): Promise<string> => {
      const { raw } = await handleOf(invoice).describe();
      return raw.pendingActivities?.map(({ lastFailure }) => lastFailure?.message ?? "").join() ?? "";
    };
    await expect.poll(looksSaid).toContain("An earlier attempt may still be at this call");
    expect(await rig.starter.getSale({ invoice })).toMatchObject({
      attentions: [],
      stockMovements: [{ state: "sending" }],
    });
  }

  /** An operator is asked: at the latest once the time is over that its activity had. */
  async function asked(invoice: string): Promise<void> {
    const isAsked = async (): Promise<boolean> => (await rig.starter.getSale({ invoice })).attentions.length > 0;
    await expect.poll(isAsked, { timeout: 4 * PATIENCE_MS }).toBe(true);
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
    const shown = async (): Promise<string> => (await fiscalflow("sale", "show", "PAUSED-1")).stdout;
    await expect.poll(shown, { interval: 500 }).toContain("somebody to unpause adjustStock in Temporal");
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
    const warned: string[] = [];
    const log = { warn: (message: string) => void warned.push(message) };
    const ends = ["one", "another"].map((identity) =>
      endLostActivities({ client, ledger, identity, log, everyMs: 500, lateMs: 2_000 }),
    );
    try {
      await asked(invoice);
      expect(await decidedAsApplied(invoice)).toHaveLength(1);
      for (const message of warned) expect(message).toContain("it is ended");
    } finally {
      await Promise.all(ends.map((end) => end()));
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
      await waitedFor(invoice);
      worker.release();
      expect(await handleOf(invoice).result()).toMatchObject({
        stockMovements: [{ state: "applied", movementId: movementsOf(invoice)[0]?.movementId }],
      });
      expect(movementsOf(invoice)).toHaveLength(1);
    },
  );

  /** Its worker stands still before it sends, and its activity is failed by hand. */
  async function failedWhileItStands(invoice: string) {
    const worker = new Held();
    standing.set(referenceOf(invoice), worker);
    await start(invoice);
    const activity = await running(invoice);
    await expect.poll(() => standing.has(referenceOf(invoice))).toBe(false);
    await failByHand(activity);
    return worker;
  }

  /** An operator is asked, and says that it was not applied. */
  async function decidedAsNotApplied(invoice: string) {
    await asked(invoice);
    const answer = { referenceId: referenceOf(invoice), applied: false, note: "not in the journal" };
    await rig.starter.resolveStock({ invoice }, answer);
    const key = { ...BUSINESS, referenceId: answer.referenceId };
    await expect.poll(async () => (await rig.ledger.stock.read(key)).kind).toBe("superseded");
  }

  test("is asked about nobody where it is failed by hand while its worker may still send it", async () => {
    const invoice = "STILL-1";
    const worker = await failedWhileItStands(invoice);
    await waitedFor(invoice);
    worker.release();
    expect(await handleOf(invoice).result()).toMatchObject({
      stockMovements: [{ state: "applied", movementId: movementsOf(invoice)[0]?.movementId }],
    });
    expect(movementsOf(invoice)).toHaveLength(1);
  });

  test("is not sent by a worker that goes on after an operator was asked", async () => {
    const invoice = "STILL-2";
    const worker = await failedWhileItStands(invoice);
    const goesOn = new Held();
    await asked(invoice);
    coming.set(referenceOf(invoice), goesOn);
    await decidedAsNotApplied(invoice);
    worker.release();
    await expect.poll(() => outcomes).toContain(`${referenceOf(invoice)} 1 not-applied`);
    expect(movementsOf(invoice)).toHaveLength(0);
    goesOn.release();
    expect(await handleOf(invoice).result()).toMatchObject({ stockMovements: [{ state: "applied" }] });
    expect(movementsOf(invoice)).toHaveLength(1);
  });

  test("is sent once where a late answer contradicts the operator, who is told", async () => {
    const invoice = "LATE-1";
    const [worker, goesOn] = [new Held(), new Held()];
    settling.set(referenceOf(invoice), worker);
    await start(invoice);
    await rig.simulator.until(() => movementsOf(invoice).length === 1);
    await failByHand(await running(invoice));
    await asked(invoice);
    coming.set(referenceOf(invoice), goesOn);
    await decidedAsNotApplied(invoice);
    worker.release();
    const movementId = movementsOf(invoice)[0]?.movementId ?? "";
    const { attentions } = await parked(invoice, "unexpected-answer");
    expect(attentions).toMatchObject([
      {
        subject: referenceOf(invoice),
        message: expect.stringContaining(`decided that it was not applied, and a late answer says otherwise`),
        evidence: { decision: { applied: false, note: "not in the journal" }, lateAnswer: { movementId } },
        resolvedBy: ["acknowledge"],
      },
    ]);
    expect((await fiscalflow("doctor")).stdout).toContain(
      `the movement ${referenceOf(invoice)} was decided as not applied`,
    );
    goesOn.release();
    await rig.starter.acknowledge({ invoice }, { code: "unexpected-answer", note: "the journal has one" });
    expect(await handleOf(invoice).result()).toMatchObject({ stockMovements: [{ state: "applied", movementId }] });
    expect(movementsOf(invoice)).toHaveLength(1);
    expect((await report()).movements).toMatchObject([{ itemId: "item_tea", disputed: 1 }]);
  });
});
