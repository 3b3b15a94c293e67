import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import type { WorkflowState } from "../../src/contract/index.ts";
import { batchesOf } from "../accounting/batches-of.ts";
import { callCli } from "../../src/cli/test-support/call-cli.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const FIRST = "cmp_sk_test_simulator";
const SECOND = "cmp_sk_test_second";
const THIRD = "cmp_sk_test_third";

const SALES = 40;
const AT_ONCE = 6;
/** Sales that are finished when the key changes: the others are under way, or begin later. */
const ROTATED_AFTER = [10, 25];

describeWithTemporal("a key that is given as a file", () => {
  let rig: Rig;
  let folder: string;
  let keyFile: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-keys-"));
    keyFile = join(folder, "key");
    await writeFile(keyFile, `${FIRST}\n`);
    const config = join(folder, "fiscalflow.json");
    await writeFile(join(folder, "accounting-key"), "sk_development_simulator\n");
    await writeFile(join(folder, "client-secret"), "cs_simulator\n");
    const accounting = { apiKey: { file: "accounting-key" }, clientSecret: { file: "client-secret" } };
    const compliance = { apiKey: { file: "key" } };
    await writeFile(
      config,
      JSON.stringify({ compliance: { default: compliance }, accounting: { default: accounting } }),
    );
    const applications = ["simulator", "second"].map((name) => ({
      name,
      keys: [`sk_development_${name}`],
      clientSecret: `cs_${name}`,
    }));
    rig = await startRig({
      simulator: { scenario: { accounting: { applications } } },
      accounting: true,
      env: {
        COMPLIANCE_API_KEY: "",
        ACCOUNTING_API_KEY: "",
        ACCOUNTING_CLIENT_SECRET: "",
        FISCALFLOW_CONFIG: config,
      },
    });
  });
  afterAll(async () => {
    await rig?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const { start, handleOf } = salesOf(() => rig);
  const batch = batchesOf(() => rig);
  const refused = (status: number): number => rig.simulator.calls({ status }).length;

  /** In one step, so that no call can meet a service that knows neither key. */
  function rotate(from: string, to: string, fileFirst: boolean): void {
    if (fileFirst) writeFileSync(keyFile, `${to}\n`);
    rig.simulator.setKey(to, { application: "simulator" });
    rig.simulator.setKey(from, null);
    if (!fileFirst) writeFileSync(keyFile, `${to}\n`);
  }

  /** Whatever a person could have seen of the sale while it ran. */
  async function historyText(invoice: string): Promise<string> {
    return textOf(await handleOf(invoice).fetchHistory());
  }

  test("rotates under load, twice, without a restart: every sale completes, and none shows `credentials`", async () => {
    const rotations = [() => rotate(FIRST, SECOND, false), () => rotate(SECOND, THIRD, true)];
    const invoices = Array.from({ length: SALES }, (_, i) => `ROTATED-${i}`);
    const waiting = [...invoices];
    let completed = 0;
    const till = async (): Promise<void> => {
      for (let invoice = waiting.shift(); invoice !== undefined; invoice = waiting.shift()) {
        await start(invoice);
        const { attentions } = await rig.stateWhen(invoice, isOver);
        expect(attentions, invoice).toEqual([]);
        if (ROTATED_AFTER.includes(++completed)) rotations.shift()?.();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, till));

    expect(rotations).toHaveLength(0);
    // The old key was refused in the middle of it.
    expect(refused(401)).toBeGreaterThan(0);
    for (const invoice of invoices) {
      expect(await handleOf(invoice).result()).toMatchObject({ stage: "completed" });
      expect(rig.simulator.documents(invoice)).toHaveLength(1);
      expect(await historyText(invoice)).not.toMatch(/credentials|cmp_sk_/);
    }
    expect(rig.logged.filter(({ message }) => message.includes("refuses the key"))).toEqual([]);
    expect(JSON.stringify(rig.logged)).not.toContain("cmp_sk_");
  });

  test("is read by `doctor` as it is now", async () => {
    const env = { ...commandEnv(rig), COMPLIANCE_API_KEY: "", FISCALFLOW_CONFIG: join(folder, "fiscalflow.json") };
    const url = { COMPLIANCE_BASE_URL: rig.simulator.url, ACCOUNTING_BASE_URL: rig.simulator.accounting.url };
    const { stdout } = await callCli(["doctor"], { env: { ...env, ...url } });
    expect(stdout).toContain("connection default, key: test, organisation-wide, reaches");
    rig.simulator.setKey(THIRD, { revoked: true });
    const refused = await callCli(["doctor"], { env: { ...env, ...url } });
    rig.simulator.setKey(THIRD, { revoked: false });
    expect(refused.stdout).toContain("401");
    expect(`${stdout}${refused.stdout}`).not.toContain("cmp_sk_test_");
  });

  test("of the accounting service rotates with its client secret: a sync batch is sent again with the new ones", async () => {
    const one = batch();
    rig.simulator.accounting.setApplication("simulator", { active: false });
    writeFileSync(join(folder, "accounting-key"), "sk_development_second\n");
    writeFileSync(join(folder, "client-secret"), "cs_second\n");
    await one.start();
    expect(await one.result()).toMatchObject({ saidBy: "service" });
    expect([one.processed(), one.calls()]).toEqual([1, 2]);
    expect(textOf(await one.handle.fetchHistory())).not.toMatch(/credentials|sk_development_|cs_/);
  });
});

/** Done, or in need of an operator. */
function isOver({ stage, stockMovements, attentions }: WorkflowState): boolean {
  return attentions.length > 0 || (stage === "completed" && stockMovements.every(({ state }) => state === "applied"));
}

/** An event's payloads as text, wherever they stand in it. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  if (Array.isArray(value)) return value.map(textOf).join(" ");
  if (typeof value === "object" && value !== null) return Object.values(value).map(textOf).join(" ");
  return typeof value === "string" ? value : "";
}
