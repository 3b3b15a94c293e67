import { expect, test } from "vitest";
import type { ConnectionLike } from "@temporalio/client";
import { msNumberToTs } from "@temporalio/common/lib/time.js";

import { createReadiness } from "./health.ts";

/** The one call of Temporal that readiness makes; counted. */
function connectionThat(describe: () => Promise<object>): { connection: ConnectionLike; asked: () => number } {
  let count = 0;
  const describeTaskQueue = () => {
    count += 1;
    return describe();
  };
  const withDeadline = (_deadline: unknown, work: () => unknown) => work();
  const connection = { workflowService: { describeTaskQueue }, withDeadline } as unknown as ConnectionLike;
  return { connection, asked: () => count };
}

function poller(identity: string, agoMs: number): object {
  return { identity, lastAccessTime: msNumberToTs(Date.now() - agoMs) };
}

const common = { namespace: "n", identity: "us", whyAway: () => Promise.resolve(undefined) };

test("the worker is ready when every worker runs and Temporal saw it poll lately", async () => {
  const { connection } = connectionThat(async () => ({ pollers: [poller("them", 0), poller("us", 60_000)] }));
  expect(await createReadiness({ ...common, connection, states: () => ["RUNNING", "RUNNING"] })()).toEqual({
    ready: true,
  });
});

test("the worker is not ready while one of its workers does not run, and Temporal is not asked", async () => {
  const { connection, asked } = connectionThat(async () => ({}));
  const readiness = createReadiness({ ...common, connection, states: () => ["RUNNING", "DRAINING"] });
  expect(await readiness()).toEqual({ ready: false, reason: "a worker is DRAINING" });
  expect(asked()).toBe(0);
});

test.each([
  ["only others poll", [poller("them", 0)]],
  ["our last poll is long ago", [poller("us", 120_000)]],
  ["nobody polls", []],
])("the worker is not ready where %s", async (_name, pollers) => {
  const { connection } = connectionThat(async () => ({ pollers }));
  const readiness = createReadiness({ ...common, connection, states: () => ["RUNNING"] });
  expect(await readiness()).toEqual({ ready: false, reason: expect.stringContaining("no recent poll of us") });
});

test("the worker is not ready when Temporal does not answer; the result is cached for five seconds", async () => {
  let nowMs = 0;
  const { connection, asked } = connectionThat(() => Promise.reject(new Error("away")));
  const readiness = createReadiness({ ...common, connection, states: () => ["RUNNING"], nowMs: () => nowMs });
  for (nowMs of [0, 1_000, 4_999])
    expect(await readiness()).toEqual({ ready: false, reason: "Temporal cannot be reached" });
  expect(asked()).toBe(1);
  nowMs = 5_000;
  await readiness();
  expect(asked()).toBe(2);
  // A clock that was ahead when the host began, and is put right.
  nowMs = -3_600_000;
  await readiness();
  expect(asked()).toBe(3);
});

test("the worker is not ready where Temporal refuses its certificate, and says so", async () => {
  const { connection } = connectionThat(() => Promise.reject(new Error("away")));
  const reason = "Temporal at temporal:7233 refused our client certificate";
  const whyAway = () => Promise.resolve(reason);
  const readiness = createReadiness({ ...common, connection, states: () => ["RUNNING"], whyAway });
  expect(await readiness()).toEqual({ ready: false, reason });
});

const VERSIONED = 2;
const version = (buildId: string) => ({ deploymentName: "shop", buildId });
const versionedPoller = (identity: string, buildId: string) => ({
  ...poller(identity, 0),
  deploymentOptions: { ...version(buildId), workerVersioningMode: VERSIONED },
});

test.each([
  ["no version is the current one", {}, [versionedPoller("us", "2")], "to workers without a deployment"],
  [
    "another version is the current one",
    { currentDeploymentVersion: version("1") },
    [versionedPoller("us", "2")],
    "to the version 1 of shop",
  ],
  [
    "a part of the tasks goes to another version",
    { currentDeploymentVersion: version("2"), rampingDeploymentVersion: version("3"), rampingVersionPercentage: 5 },
    [versionedPoller("us", "2")],
    "to the version 3 of shop",
  ],
  [
    "we have no version, and one is the current one",
    { currentDeploymentVersion: version("1") },
    [poller("us", 0)],
    "to the version 1 of shop",
  ],
])("the worker is not ready where %s, and no worker gets the tasks", async (_name, versioningInfo, pollers, reason) => {
  const { connection } = connectionThat(async () => ({ pollers, versioningInfo }));
  const readiness = createReadiness({ ...common, connection, states: () => ["RUNNING"] });
  expect(await readiness()).toEqual({ ready: false, reason: expect.stringContaining(reason) });
});

test("the worker is ready where a worker of the current version polls too", async () => {
  const versioningInfo = { currentDeploymentVersion: version("1") };
  const pollers = [versionedPoller("us", "2"), versionedPoller("them", "1")];
  const { connection } = connectionThat(async () => ({ pollers, versioningInfo }));
  expect(await createReadiness({ ...common, connection, states: () => ["RUNNING"] })()).toEqual({ ready: true });
});
