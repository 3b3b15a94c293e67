import { Client, Connection, type WorkflowHandle } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";

import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { syncPurchasesWorkflowId, type SyncPurchasesOutcome } from "../../src/contract/index.ts";
import type { DevServer } from "../../src/servers/start-dev-server.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { namespaceOf } from "../rig/namespace.ts";
import { startOwnServer } from "../rig/own-server.ts";
import { purchaseOf } from "../rig/purchases.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const LATEST = "fiscalflow/sync-purchases/default/biz_1/latest";
const FULL = "fiscalflow/sync-purchases/default/biz_1/full";
const RECONCILE = "fiscalflow/reconcile/default/biz_1/all";
const HOUR_MS = 3_600_000;

interface Setup {
  schedules: { id: string; change: string; paused?: true }[];
  notScheduled: { what: string; why: string }[];
}

const namespace = namespaceOf(import.meta.filename);
/** Its own: the one of all suites runs no Schedules. */
let server: DevServer;
beforeAll(async () => {
  server = await startOwnServer();
});
afterAll(() => server?.stop());

describeWithTemporal("the Schedules that setup keeps", () => {
  let connection: Connection;
  let client: Client;
  beforeAll(async () => {
    connection = await Connection.connect({ address: server.address });
    client = new Client({ connection, namespace });
  });
  afterAll(() => connection?.close());

  function cli(argv: string[], more: Record<string, string> = {}): Promise<CliResult> {
    const env = {
      TEMPORAL_ADDRESS: server.address,
      TEMPORAL_NAMESPACE: namespace,
      COMPLIANCE_BASE_URL: "http://127.0.0.1:9",
      COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      ...more,
    };
    return callCli(argv, { env });
  }
  async function setup(more: Record<string, string> = {}): Promise<Setup> {
    const { stdout, stderr, exitCode } = await cli(["setup", "--json"], more);
    expect([exitCode, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout) as Setup;
  }
  const changesOf = ({ schedules }: Setup) => schedules.map(({ id, change }) => [id, change]);
  const intervalOf = async (id: string) => (await client.schedule.getHandle(id).describe()).spec.intervals?.[0];

  test("are created from the configuration, and left alone after that", async () => {
    await setup({ COMPLIANCE_PURCHASES_SYNC_EVERY: "7 days" });
    expect(await intervalOf(LATEST)).toMatchObject({ every: 7 * 24 * HOUR_MS });
    const full = await intervalOf(FULL);
    expect(full).toMatchObject({ every: 7 * 24 * HOUR_MS });
    // Not all businesses at the same moment.
    expect(Number(full?.offset)).toBeGreaterThan(0);
    expect(changesOf(await setup({ COMPLIANCE_PURCHASES_SYNC_EVERY: "7 days" }))).toEqual([
      [LATEST, "unchanged"],
      [FULL, "unchanged"],
      [RECONCILE, "unchanged"],
    ]);
  });

  test("are repaired where the configuration, or somebody, has changed them", async () => {
    await client.schedule.getHandle(LATEST).update((schedule) => ({
      ...schedule,
      spec: { intervals: [{ every: "5 minutes" as const }] },
      action: { ...schedule.action, args: [{ workflow: "sale" }] },
    }));
    const { schedules } = await setup();
    expect(schedules).toEqual([
      { id: LATEST, change: "repaired" },
      { id: FULL, change: "repaired" },
      { id: RECONCILE, change: "unchanged" },
    ]);
    expect(await intervalOf(LATEST)).toMatchObject({ every: HOUR_MS });
    expect(await intervalOf(FULL)).toMatchObject({ every: 24 * HOUR_MS });
    expect(changesOf(await setup())).toEqual([
      [LATEST, "unchanged"],
      [FULL, "unchanged"],
      [RECONCILE, "unchanged"],
    ]);
  });

  test("that an operator has paused stay paused, also when they are repaired", async () => {
    const handle = client.schedule.getHandle(LATEST);
    await handle.pause("stocktaking");
    const { schedules } = await setup({ COMPLIANCE_PURCHASES_SYNC_EVERY: "2 hours" });
    expect(schedules).toContainEqual({ id: LATEST, change: "repaired", paused: true });
    expect((await handle.describe()).state).toMatchObject({ paused: true, note: "stocktaking" });
    await handle.unpause();
  });

  test("that are no longer configured are removed, and foreign ones are kept", async () => {
    const action = { type: "startWorkflow" as const, workflowType: "scheduled", taskQueue: "fiscalflow" };
    const spec = { intervals: [{ every: "1 day" as const }] };
    const others = ["somebody-elses", "fiscalflow/sync-bill-payments/default/latest"];
    for (const scheduleId of others) await client.schedule.create({ scheduleId, spec, action });
    const orphan = "fiscalflow/sync-purchases/default/biz_gone/latest";
    await client.schedule.create({ scheduleId: orphan, spec, action });
    // A Schedule is listed a moment after it was made.
    await expect.poll(async () => changesOf(await setup())).toContainEqual([orphan, "removed"]);
    await expect(client.schedule.getHandle(orphan).describe()).rejects.toMatchObject({ name: "ScheduleNotFoundError" });
    for (const id of others) await expect(client.schedule.getHandle(id).describe()).resolves.toBeDefined();
  });

  test("are left as they are where no connection is configured", async () => {
    const { stdout } = await callCli(["setup"], {
      env: { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: namespace },
    });
    expect(stdout).toContain("No connection is configured here: Schedules are left as they are.");
    await expect(client.schedule.getHandle(LATEST).describe()).resolves.toBeDefined();
  });

  test.each([
    [{ COMPLIANCE_PURCHASES_SYNC_EVERY: "off" }, "the interval is off"],
    [{ COMPLIANCE_DIALECT: '{"purchases":{"cursor":null}}' }, "the dialect has no name for the cursor"],
    [{ COMPLIANCE_BUSINESS_ID: "", COMPLIANCE_BUSINESSES: "*" }, "it serves any business, and none is named"],
  ])("are none with %j, and setup says why", async (env, why) => {
    const { schedules, notScheduled } = await setup(env);
    expect(schedules.filter(({ id, change }) => id !== RECONCILE && change !== "removed")).toEqual([]);
    expect(notScheduled[0]?.why).toContain(why);
  });

  test("exist for each business of a connection, spread in time, and are removed with the business", async () => {
    const ids = Array.from({ length: 6 }, (_, n) => `biz_${n + 1}`);
    const schedulesOf = (business: string) => [
      `fiscalflow/sync-purchases/default/${business}/latest`,
      `fiscalflow/sync-purchases/default/${business}/full`,
      `fiscalflow/reconcile/default/${business}/all`,
    ];
    await setup();
    const made = changesOf(await setup({ COMPLIANCE_BUSINESSES: ids.join(",") }));
    expect(made).toHaveLength(18);
    expect(made).toEqual(
      expect.arrayContaining([
        ...schedulesOf("biz_1").map((id) => [id, "unchanged"]),
        ...ids
          .slice(1)
          .flatMap(schedulesOf)
          .map((id) => [id, "created"]),
      ]),
    );
    const next = await Promise.all(
      ids.map(async (business) => {
        const [latest = ""] = schedulesOf(business);
        return (await client.schedule.getHandle(latest).describe()).info.nextActionTimes[0]?.getTime();
      }),
    );
    expect(new Set(next).size).toBe(6);

    const fewer = { COMPLIANCE_BUSINESSES: "biz_2" };
    const gone = ids.slice(2).flatMap(schedulesOf);
    const kept = [...schedulesOf("biz_1"), ...schedulesOf("biz_2")];
    // A Schedule is listed a moment after it was made.
    const removed = new Set<string>();
    const look = async () => {
      for (const [id = "", change] of changesOf(await setup(fewer))) if (change === "removed") removed.add(id);
      return gone.filter((id) => !removed.has(id));
    };
    await expect.poll(look).toEqual([]);
    for (const id of kept) await expect(client.schedule.getHandle(id).describe()).resolves.toBeDefined();
    for (const id of gone) {
      await expect(client.schedule.getHandle(id).describe()).rejects.toMatchObject({ name: "ScheduleNotFoundError" });
    }
    // As the configuration of one business wants it again.
    for (const id of schedulesOf("biz_2")) await client.schedule.getHandle(id).delete();
  });

  test("are two for each connection to the accounting service", async () => {
    const accounting = {
      ACCOUNTING_BASE_URL: "http://127.0.0.1:9",
      ACCOUNTING_API_KEY: "sk_development_0123456789",
      ACCOUNTING_BILL_PAYMENTS_SYNC_EVERY: "30 minutes",
    };
    // A Schedule that is gone is still listed for a moment.
    await expect
      .poll(async () => (await setup(accounting)).schedules.map(({ id }) => id))
      .toEqual([
        LATEST,
        FULL,
        RECONCILE,
        "fiscalflow/sync-bill-payments/default/latest",
        "fiscalflow/sync-bill-payments/default/full",
      ]);
  });
});

describeWithTemporal("a Schedule that comes due", () => {
  let rig: Rig;
  beforeAll(async () => {
    const purchases = Array.from({ length: 30 }, (_, n) => purchaseOf(n));
    purchases.push(purchaseOf(30, { businessId: "biz_2" }));
    const businesses = ["biz_1", "biz_2"].map((id) => ({ id, name: id, branches: [{ id, authorityBhfId: "00" }] }));
    rig = await startRig({
      address: server.address,
      simulator: { scenario: { businesses, purchases } },
      receiver: false,
      env: { COMPLIANCE_BUSINESSES: "biz_2" },
    });
    const { stderr } = await callCli(["setup"], {
      env: {
        ...commandEnv(rig),
        COMPLIANCE_BUSINESSES: "biz_2",
        // None comes due by itself while the suite runs.
        COMPLIANCE_PURCHASES_SYNC_EVERY: "365d",
      },
    });
    if (stderr !== "") throw new Error(stderr);
  });
  afterAll(() => rig?.close());

  const workflowId = syncPurchasesWorkflowId({ connection: "default", businessId: "biz_1" });
  /** What the workflow that the Schedule has started says, once it has ended. */
  const trigger = async (id: string): Promise<unknown> => (await startedBy(id)).result();
  async function startedBy(id: string): Promise<WorkflowHandle> {
    const handle = rig.client.schedule.getHandle(id);
    const before = (await handle.describe()).info.recentActions.length;
    await handle.trigger();
    let started: string | undefined;
    await expect
      .poll(async () => {
        const { recentActions } = (await handle.describe()).info;
        started = recentActions.at(-1)?.action.workflow.workflowId;
        return recentActions.length;
      })
      .toBe(before + 1);
    return rig.client.workflow.getHandle(started ?? "");
  }

  test("starts the synchronisation under its one id", async () => {
    expect(await trigger(LATEST)).toBe("started");
    const outcome = (await rig.client.workflow.getHandle(workflowId).result()) as SyncPurchasesOutcome;
    // The first of all reads everything.
    expect(outcome).toMatchObject({ kind: "full", total: 30 });
    expect(await trigger(FULL)).toBe("started");
    expect(await rig.client.workflow.getHandle(workflowId).result()).toMatchObject({ kind: "full", total: 30 });
  });

  test("starts the synchronisation of the other business of the key for that one", async () => {
    expect(await trigger(LATEST.replace("biz_1", "biz_2"))).toBe("started");
    const other = syncPurchasesWorkflowId({ connection: "default", businessId: "biz_2" });
    expect(await rig.client.workflow.getHandle(other).result()).toMatchObject({ kind: "full", total: 1 });
  });

  test("leaves a running one alone, and waits for it before a full one", async () => {
    rig.simulator.inject({ operation: "pullPurchases", when: "before", kind: "status", status: 503 });
    const running = await rig.client.workflow.start("syncPurchases", {
      workflowId,
      taskQueue: "fiscalflow",
      args: [{}],
    });
    expect(await trigger(LATEST)).toBe("skipped");
    const waiting = await startedBy(FULL);
    const timer = async () =>
      (await waiting.fetchHistory()).events?.find((event) => event.timerStartedEventAttributes)
        ?.timerStartedEventAttributes?.startToFireTimeout?.seconds;
    await expect.poll(async () => Number(await timer())).toBe(600);
    rig.simulator.clearFaults();
    expect(await running.result()).toMatchObject({ kind: "recent", total: 30 });
    await waiting.terminate("nobody waits ten minutes for a test");
  });
});
