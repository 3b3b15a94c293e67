import type { Client } from "@temporalio/client";
import { msNumberToTs } from "@temporalio/common/lib/time.js";
import { expect, test } from "vitest";

import { watchUnservedVersion } from "./each-minute.ts";

test("a version of which no worker polls is told by the metric and in the log", async () => {
  const versioningInfo = { currentDeploymentVersion: { deploymentName: "shop", buildId: "1" } };
  const pollers = [{ identity: "us", lastAccessTime: msNumberToTs(Date.now()) }];
  const describeTaskQueue = async () => ({ pollers, versioningInfo });
  const client = { connection: { workflowService: { describeTaskQueue } }, options: { namespace: "n" } };
  const told: unknown[] = [];
  const gauge = {
    set: (value: number) => told.push(value),
    withTags: () => gauge,
    name: "",
    kind: "gauge",
    valueType: "int",
  } as const;
  const end = watchUnservedVersion({
    client: client as unknown as Client,
    log: { warn: (message) => told.push(message) },
    meter: { createGauge: () => gauge },
  });
  await end();
  expect(told).toEqual([
    1,
    expect.stringMatching(/^Temporal hands .* to the version 1 of shop, and none of those polls/),
  ]);
});

test("that versions cannot be looked up since Temporal refuses our certificate is told in the log", async () => {
  const describeTaskQueue = () => Promise.reject(new Error("transport error"));
  const client = { connection: { workflowService: { describeTaskQueue } }, options: { namespace: "n" } };
  const gauge = { set: () => undefined, withTags: () => gauge, name: "", kind: "gauge", valueType: "int" } as const;
  const told: unknown[] = [];
  const reason = "Temporal at temporal:7233 refused our client certificate";
  const end = watchUnservedVersion({
    client: client as unknown as Client,
    log: { warn: (_message, fields) => told.push(fields) },
    meter: { createGauge: () => gauge },
    whyAway: () => Promise.resolve(reason),
  });
  await expect.poll(() => told).toEqual([{ reason }]);
  await end();
});
