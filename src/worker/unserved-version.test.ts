import type { Client } from "@temporalio/client";
import { msNumberToTs } from "@temporalio/common/lib/time.js";
import { expect, test } from "vitest";

import { watchUnservedVersion } from "./each-minute.ts";
import { gaugesInto } from "./test-support/gauges-into.ts";

function clientOf(describeTaskQueue: () => Promise<unknown>): Client {
  const connection = { workflowService: { describeTaskQueue } };
  const withDeadline = (_deadline: number, ask: () => Promise<unknown>): Promise<unknown> => ask();
  return { connection, options: { namespace: "n" }, withDeadline } as unknown as Client;
}

test("a version of which no worker polls is told by the metric and in the log", async () => {
  const versioningInfo = { currentDeploymentVersion: { deploymentName: "shop", buildId: "1" } };
  const pollers = [{ identity: "us", lastAccessTime: msNumberToTs(Date.now()) }];
  const describeTaskQueue = async () => ({ pollers, versioningInfo });
  const client = clientOf(describeTaskQueue);
  const told: unknown[] = [];
  const up: number[] = [];
  const meter = gaugesInto((name, value) => (name === "fiscalflow_version_unserved" ? told : up).push(value));
  const end = watchUnservedVersion({
    client,
    log: { warn: (message) => told.push(message) },
    meter,
  });
  await end();
  expect(told).toEqual([
    1,
    expect.stringMatching(/^Temporal hands .* to the version 1 of shop, and none of those polls/),
  ]);
  expect(up).toEqual([1]);
});

test("that versions cannot be looked up since Temporal refuses our certificate is told in the log", async () => {
  const describeTaskQueue = () => Promise.reject(new Error("transport error"));
  const client = clientOf(describeTaskQueue);
  const up: number[] = [];
  const meter = gaugesInto((name, value) => name === "fiscalflow_temporal_up" && up.push(value));
  const told: unknown[] = [];
  const reason = "Temporal at temporal:7233 refused our client certificate";
  const end = watchUnservedVersion({
    client,
    log: { warn: (_message, fields) => told.push(fields) },
    meter,
    whyAway: () => Promise.resolve(reason),
  });
  await expect.poll(() => told).toEqual([{ reason }]);
  expect(up).toEqual([0]);
  await end();
});
