import type { MetricMeter } from "@temporalio/common";
import { spawnSync } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { inParallel } from "../../src/cli/context.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { withOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { freePort } from "../../src/servers/start-dev-server.ts";
import { createStarter } from "../../src/starter/index.ts";
import { watchFleet } from "../../src/worker/fleet-metrics.ts";
import { commandEnv } from "../rig/command-env.ts";
import { CommandProcess } from "../rig/command-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { FULL_SIZE } from "../rig/patience.ts";
import { saleOfTea } from "../rig/sales-of.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { HAS_PROMETHEUS, Prometheus } from "./prometheus.ts";

const ALERTS = fileURLToPath(new URL("../../deploy/prometheus/alerts.yml", import.meta.url));
const DASHBOARD = fileURLToPath(new URL("../../deploy/grafana/fiscalflow.json", import.meta.url));
const OTHERS = Array.from({ length: FULL_SIZE ? 999 : 30 }, (_, n) => `biz_${n + 2}`);
/** Tills that sell side by side. */
const TILLS = 10;
const LONGEST_MS = 15 * 60_000;

const describeWithPrometheus = HAS_PROMETHEUS || process.env["CI"] ? describeWithTemporal : describe.skip;

describeWithPrometheus("what Prometheus sees of a worker and a receiver", () => {
  let rig: Rig;
  let prometheus: Prometheus | undefined;
  const processes: CommandProcess[] = [];
  const ports: Record<string, number> = {};

  let folder: string;
  let env: Record<string, string>;
  let worker: CommandProcess;

  async function start(name: "worker" | "callbacks", said: string): Promise<CommandProcess> {
    const started = new CommandProcess(name, { ...env, METRICS_PORT: String(ports[name]) });
    processes.push(started);
    await started.said(said);
    return started;
  }

  beforeAll(async () => {
    const of = (id: string) => ({ id, name: id, branches: [{ id: `branch_${id}`, authorityBhfId: "00" }] });
    const tea = (businessId: string) => ({
      id: businessId === "biz_1" ? "item_tea" : `item_tea_${businessId}`,
      businessId,
      name: "Tea",
      unitPrice: 350,
      sku: "SKU-TEA",
      registrationStatus: "REGISTERED",
    });
    rig = await startRig({
      workers: false,
      receiver: false,
      simulator: {
        scenario: {
          businesses: ["biz_1", ...OTHERS].map(of),
          items: ["biz_1", ...OTHERS].map(tea),
          applications: [{ name: "till", keys: [{ key: "cmp_sk_test_simulator" }], limitPerWindow: 100_000 }],
        },
      },
    });
    for (const name of ["worker", "callbacks", "receiver"]) ports[name] = await freePort();
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-monitored-"));
    await writeFile(join(folder, "secret"), "a secret of the tests that is long enough to be one");
    const publicUrl = `http://127.0.0.1:${ports["receiver"]}`;
    const config = { callbacks: { publicUrl, secrets: [{ file: "secret" }] } };
    await writeFile(join(folder, "config.json"), JSON.stringify(config));
    env = {
      ...commandEnv(rig),
      FISCALFLOW_CONFIG: join(folder, "config.json"),
      COMPLIANCE_KEY_REACH: "organisation",
      COMPLIANCE_BUSINESSES: "*",
      ACCOUNTING_BASE_URL: rig.simulator.accounting.url,
      ACCOUNTING_API_KEY: "sk_development_simulator",
      CALLBACK_PORT: String(ports["receiver"]),
      CALLBACK_ALLOW_LOOPBACK: "1",
    };
    await start("callbacks", "receiving");
    worker = await start("worker", "serving");
    prometheus = await Prometheus.start(
      [
        { job: "worker", port: ports["worker"] ?? 0 },
        { job: "receiver", port: ports["callbacks"] ?? 0 },
      ],
      ALERTS,
    );
  });
  afterAll(async () => {
    await prometheus?.stop();
    for (const { child } of processes) if (child.exitCode === null) child.kill("SIGKILL");
    await rig?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const scrapedOf = async (name: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${ports[name]}/metrics`)).text();
  const scraped = async (): Promise<string> => (await Promise.all(["worker", "callbacks"].map(scrapedOf))).join("\n");
  const sell = async (businessId: string, invoice: string): Promise<void> => {
    const starter = createStarter({
      client: rig.client,
      businesses: { default: businessId },
      servedBusinesses: undefined,
    });
    const { outcome } = await starter.startSaleAndWait(
      saleOfTea(invoice, { lines: [{ sku: "SKU-TEA", quantity: 1, unitPrice: 350 }] }),
      { waitSeconds: 20 },
    );
    expect(outcome).toMatchObject({ stage: "completed" });
  };

  /** One value of each label, by name of the metric. */
  const labelsOf = (text: string): Map<string, Set<string>> => {
    const found = new Map<string, Set<string>>();
    for (const [, name = "", labels = ""] of text.matchAll(/^(fiscalflow_\w+?)(?:\{(.*)\})? \S+$/gm))
      found.set(name, (found.get(name) ?? new Set()).add(labels));
    return found;
  };

  test("each metric has a meaning, and its name and unit are as Prometheus wants them", async () => {
    await sell("biz_1", "INV-1");
    // The SDK names its labels in its own way, which is how the check is seen to refuse something.
    const own = (text: string) =>
      text.replaceAll(/(namespace|taskQueue|workflowType|activityType)="[^"]*",?/g, "").replaceAll(",}", "}");
    const check = (text: string) => {
      const lines = text.split("\n").filter((line) => /^(# \w+ )?fiscalflow_/.test(line));
      return spawnSync("promtool", ["check", "metrics"], { input: `${lines.join("\n")}\n`, encoding: "utf8" });
    };
    for (const name of ["worker", "callbacks"])
      expect(check(own(await scrapedOf(name)))).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(check(await scrapedOf("worker")).stderr).toContain("label names should be written in 'snake_case'");
  });

  test("the alerts are as Prometheus wants them, and each fires once", async () => {
    const promtool = (...argv: string[]) => spawnSync("promtool", argv, { encoding: "utf8" });
    const tests = ALERTS.replace(".yml", ".test.yml");
    expect(promtool("check", "rules", ALERTS)).toMatchObject({ status: 0, stderr: "" });
    expect(promtool("test", "rules", tests)).toMatchObject({ status: 0, stderr: "" });
    // An alert that never fires, or of no query, is found.
    const copy = join(folder, "alerts.yml");
    const rules = await readFile(ALERTS, "utf8");
    await cp(tests, join(folder, "alerts.test.yml"));
    await writeFile(copy, rules.replace("min(fiscalflow_ledger_up) == 0", "min(fiscalflow_ledger_up) == 2"));
    expect(promtool("test", "rules", join(folder, "alerts.test.yml")).status).toBe(1);
    await writeFile(copy, rules.replace("min(fiscalflow_ledger_up)", "min(fiscalflow_ledger_up"));
    expect(promtool("check", "rules", copy).status).toBe(1);
  });

  test("many businesses are as many series as one", { timeout: LONGEST_MS }, async () => {
    await expect.poll(scraped).toMatch(/^fiscalflow_movements_total{.*outcome="applied"/m);
    const before = labelsOf(await scraped());
    await inParallel(OTHERS, TILLS, async (businessId) => await sell(businessId, `INV-OF-${businessId}`));
    const text = await scraped();
    const after = labelsOf(text);
    expect([...after.keys()]).toEqual(expect.arrayContaining([...before.keys()]));
    for (const [name, series] of before) expect([name, after.get(name)]).toEqual([name, series]);
    expect(text).not.toMatch(/biz_|INV-/);
    expect(text).toMatch(new RegExp(`^fiscalflow_documents_total{.*outcome="signed".*} ${OTHERS.length + 1}$`, "m"));
  });

  test("an alert wakes somebody, and the dashboard shows, what is there to be seen", async () => {
    const seen = (query: string) => async () => await prometheus?.query(query);
    // A refused key, which needs a person; a forged callback; the file of a secret that is empty; a workflow of no type.
    rig.simulator.inject({ operation: "createSale", when: "before", kind: "status", status: 401 });
    await createStarter({ client: rig.client, businesses: { default: "biz_1" } }).startSale(saleOfTea("INV-REFUSED"));
    await rig.stateWhen("INV-REFUSED", ({ attentions }) => attentions.some(({ code }) => code === "credentials"));
    await fetch(`http://127.0.0.1:${ports["receiver"]}/callbacks/forged`, { method: "POST" });
    await writeFile(join(folder, "secret"), "");
    const none = await rig.client.workflow.start("none", { workflowId: "none", taskQueue: "fiscalflow" });
    await expect.poll(seen('ALERTS{alertname="KeyRefused"}')).toHaveLength(1);
    await expect.poll(seen('ALERTS{alertname="SecretFileRefused"}')).toHaveLength(1);
    await expect.poll(seen("temporal_workflow_task_execution_failed_total > 0")).toHaveLength(1);
    await none.terminate();
    await forgetWorkflow(rig, "none");
    const named = [...(await metricsOfFiles()), "fiscalflow_that_nobody_exports"];
    const unseen: string[] = [];
    for (const name of named) if ((await seen(name)())?.length === 0) unseen.push(name);
    expect(unseen).toEqual(["fiscalflow_that_nobody_exports"]);
    // Workers count when they start, and each minute.
    await writeFile(join(folder, "secret"), "a secret of the tests that is long enough to be one");
    await worker.end("SIGTERM");
    worker = await start("worker", "serving");
    await expect.poll(seen("fiscalflow_workflows_needing_person{code='credentials'} == 1")).toHaveLength(1);
    await expect.poll(seen("fiscalflow_longest_need_seconds{code='credentials'} > 0")).toHaveLength(1);
    await expect.poll(seen("fiscalflow_jobs_needing_person == 0")).toHaveLength(1);
    await expect.poll(seen("fiscalflow_temporal_up == 1")).toHaveLength(2);
    for (const query of await queriesOfDashboard()) await prometheus?.query(query.replaceAll("$__rate_interval", "1m"));
  });

  test("a count that fails leaves the others as they are, and is no ledger that is away", async () => {
    const { client, ledger } = rig;
    const gauges = new Map<string, number>();
    const list = (): never => {
      throw new TypeError("not allowed to list Schedules");
    };
    const owedAnswers = () => Promise.reject(new LedgerUnavailableError("too slow"));
    const warned: unknown[] = [];
    await worker.end("SIGTERM");
    const watch = (of: Partial<Parameters<typeof watchFleet>[0]>) => {
      const log = { warn: (_message: string, { reason }: Record<string, unknown>) => void warned.push(reason) };
      const end = watchFleet({ client, ledger, meter: meterInto(gauges), identity: "one", log, everyMs: 200, ...of });
      onTestFinished(end);
      return end;
    };
    const open = 'fiscalflow_workflows_needing_person {"code":"credentials"}';
    const owed = 'fiscalflow_answers_owed {"kind":"document"}';
    const end = watch({ client: { workflow: client.workflow, schedule: { list } as never } });
    await expect.poll(() => warned).toEqual(["TypeError"]);
    expect([gauges.get("fiscalflow_ledger_up {}"), gauges.get(open), gauges.get(owed)]).toEqual([1, 1, 0]);
    await end();
    gauges.clear();
    watch({ ledger: { ...ledger, fleet: { ...ledger.fleet, owedAnswers } } });
    await expect.poll(() => gauges.get('fiscalflow_schedule_lag_seconds {"job":"reconcile"}')).toBe(0);
    expect(warned).toEqual(["TypeError", "too slow"]);
    expect(gauges.get("fiscalflow_ledger_up {}")).toBe(1);
    expect(gauges.get(open)).toBe(1);
    worker = await start("worker", "serving");
  });

  test("nobody counts twice: the next worker counts once the first is gone", async () => {
    const { client, ledger } = rig;
    const gauges = new Map<string, number>();
    const meter = meterInto(gauges);
    const warned: string[] = [];
    const log = { warn: (message: string) => void warned.push(message) };
    const open = 'fiscalflow_workflows_needing_person {"code":"credentials"}';
    const counts = "fiscalflow_workflows_needing_person{code='credentials'} == 1";
    await expect.poll(async () => await prometheus?.query(counts)).toHaveLength(1);
    const end = watchFleet({ client, ledger, meter, identity: "the next", log, everyMs: 200 });
    onTestFinished(end);
    await expect.poll(() => gauges.get("fiscalflow_ledger_up {}")).toBe(1);
    expect(gauges.get(open)).toBeUndefined();
    await worker.end("SIGTERM");
    await expect.poll(() => gauges.get(open)).toBe(1);
    // As after a pause of this process.
    await withOutsideClient(rig.config.ledger.url?.reveal() ?? "", (outside) =>
      outside.query("update turns set holder = 'another', until = now() + interval '1 minute'"),
    );
    await expect.poll(() => gauges.get(open)).toBeNaN();
    expect(warned).toEqual([]);
  });
});

/** By name and labels. */
function meterInto(gauges: Map<string, number>): Pick<MetricMeter, "createGauge"> {
  return {
    createGauge: (name: string) =>
      ({ set: (value: number, labels = {}) => gauges.set(`${name} ${JSON.stringify(labels)}`, value) }) as never,
  };
}

async function metricsOfFiles(): Promise<string[]> {
  const texts = [await readFile(ALERTS, "utf8"), ...(await queriesOfDashboard())];
  return [...new Set(texts.join("\n").match(/\b(?:fiscalflow|temporal)_\w+/g))].toSorted();
}

async function queriesOfDashboard(): Promise<string[]> {
  const { panels } = JSON.parse(await readFile(DASHBOARD, "utf8")) as { panels: { targets: { expr: string }[] }[] };
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}
