import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Client } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { callCli } from "../../src/cli/test-support/call-cli.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { findTemporalCli } from "../../src/servers/find-temporal-cli.ts";
import type { DevServer } from "../../src/servers/start-dev-server.ts";
import { createWorkers } from "../../src/worker/create-workers.ts";
import { createReadiness } from "../../src/worker/health.ts";
import { ledgerOf } from "../../src/worker/ledger-of-config.ts";
import { RunningWorkers } from "../../src/worker/run-worker-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { startOwnServer } from "../rig/own-server.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const DEPLOYMENT = "shop";
/** A namespace in which no worker without a deployment has polled. */
const FRESH = "fresh";
const UNKNOWN_ITEM = { lines: [{ sku: "NO-SUCH", quantity: 2, unitPrice: 100 }] };

/** The server of all suites keeps no versions. */
describeWithTemporal("workers of a Worker Deployment", () => {
  let server: DevServer;
  let rig: Rig;
  let ledger: Ledger;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    server = await startOwnServer({ namespaces: [FRESH] });
    // Its workers belong to none.
    rig = await startRig({ receiver: false, address: server.address });
    ledger = ledgerOf(rig.config);
  });
  afterAll(async () => {
    for (const end of ends) await end();
    await ledger?.close();
    await rig?.close();
    await server?.stop();
  });
  const { start, parked, handleOf } = salesOf(() => rig);

  const startBuild = async (
    buildId: string,
    namespace = rig.namespace,
  ): Promise<{ running: RunningWorkers; identity: string }> => {
    // As another process has it: one connection has no two workers of a queue.
    const native = await NativeConnection.connect({ address: server.address });
    const serving = await createWorkers({
      config: { ...rig.config, worker: { ...rig.config.worker, deployment: DEPLOYMENT } },
      connection: native,
      client: new Client({ connection: rig.client.connection, namespace }),
      ledger,
      namespace,
      workflowBundle: { codePath: inject("workflowBundlePath") },
      buildId,
    });
    const running = new RunningWorkers(serving.workers, serving);
    ends.push(async () => {
      await running.stop();
      await serving.close();
      await native.close();
    });
    return { running, identity: serving.identity };
  };
  const setCurrent = async (buildId: string, namespace = rig.namespace): Promise<void> => {
    const where = ["--address", rig.address, "--namespace", namespace];
    const which = ["--deployment-name", DEPLOYMENT, "--build-id", buildId, "--yes"];
    const set = ["worker", "deployment", "set-current-version", ...which, ...where];
    await promisify(execFile)(await findTemporalCli(), set);
  };
  const doctor = async (namespace: string) => {
    const { url } = rig.simulator;
    const compliance = {
      COMPLIANCE_BASE_URL: url,
      COMPLIANCE_API_KEY: "cmp_sk_test_a",
      COMPLIANCE_BUSINESS_ID: "biz_1",
    };
    const temporal = { TEMPORAL_ADDRESS: rig.address, TEMPORAL_NAMESPACE: namespace };
    return (await callCli(["doctor"], { env: { ...temporal, ...compliance } })).stdout;
  };
  const versionOf = async (invoice: string): Promise<string | null | undefined> => {
    const { raw } = await handleOf(invoice).describe();
    return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
  };

  test("carry on what other workers began once their version is the current one, as the next build does", async () => {
    await start("DEPLOY-1", UNKNOWN_ITEM);
    await parked("DEPLOY-1", "item-unknown");
    const first = await startBuild("build-1");
    await rig.starter.retry({ invoice: "DEPLOY-1" });
    expect(await versionOf("DEPLOY-1")).toBeUndefined();

    await expect.poll(() => setCurrent("build-1").then(() => "set", String)).toBe("set");
    await rig.stopWorkers();
    await rig.starter.retry({ invoice: "DEPLOY-1" });
    await expect.poll(() => versionOf("DEPLOY-1")).toBe("build-1");

    await startBuild("build-2");
    await expect.poll(() => setCurrent("build-2").then(() => "set", String)).toBe("set");
    await first.running.drain();
    await rig.starter.retry({ invoice: "DEPLOY-1" });
    await expect.poll(() => versionOf("DEPLOY-1")).toBe("build-2");
    expect(await start("DEPLOY-2").then((handle) => handle.result())).toMatchObject({ stage: "completed" });
    expect(await versionOf("DEPLOY-2")).toBe("build-2");
  });

  test("that get no tasks, since no worker of the current version polls, are told by doctor and by /readyz", async () => {
    const { running, identity } = await startBuild("build-1", FRESH);
    const { connection } = rig.client;
    const whyAway = () => Promise.resolve(undefined);
    const readiness = (): Promise<unknown> =>
      createReadiness({ states: () => running.states, connection, namespace: FRESH, identity, whyAway })();
    const unserved = "to workers without a deployment, and none of those polls";
    await expect.poll(readiness).toEqual({ ready: false, reason: expect.stringContaining(unserved) });
    const said = await doctor(FRESH);
    expect(said).toMatch(new RegExp(`✗ workers: .*${unserved}`));
    expect(said).toContain(
      "temporal worker deployment set-current-version --namespace fresh --deployment-name shop --build-id build-1",
    );
    await setCurrent("build-1", FRESH);
    await expect.poll(readiness).toEqual({ ready: true });
    expect(await doctor(FRESH)).not.toContain(unserved);
  });
});
