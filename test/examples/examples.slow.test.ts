import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { readPdf } from "../../src/receipt/test-support/read-pdf.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { type Consumer, createConsumer } from "./consumer.ts";

const SCENARIO = new URL("../../examples/scenario.json", import.meta.url);
const LINE = { sku: "UNGA-2KG", quantity: 1, unitPrice: 198 };

describeWithTemporal("the examples in TypeScript", () => {
  let rig: Rig;
  let consumer: Consumer;
  beforeAll(async () => {
    const { simulator } = JSON.parse(await readFile(SCENARIO, "utf8")) as { simulator: unknown };
    consumer = await createConsumer();
    await consumer.compile({ module: "node16", moduleResolution: "node16", outDir: "compiled" });
    const env = { COMPLIANCE_API_KEY: "cmp_sk_test_demo", COMPLIANCE_BUSINESS_ID: "biz_demo" };
    rig = await startRig({ simulator: { scenario: simulator }, env, receiver: false });
  });
  afterAll(async () => {
    await rig?.close();
    await consumer?.remove();
  });

  /** What it prints. @param answers given one by one, each once the example has printed what it is matched by */
  async function run(example: string, answers: readonly (readonly [RegExp, string])[] = []): Promise<string[]> {
    const child = spawn(process.execPath, [join(consumer.folder, "compiled", `${example}.js`)], {
      cwd: consumer.folder,
      env: {
        PATH: process.env["PATH"],
        TEMPORAL_CONFIG_FILE: "/nonexistent/temporal.toml",
        TEMPORAL_ADDRESS: rig.address,
        TEMPORAL_NAMESPACE: rig.namespace,
      },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const left = [...answers];
    let printed = "";
    let answeredTo = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      printed += String(chunk);
      const question = left.findIndex(([asked]) => asked.test(printed.slice(answeredTo)));
      if (question < 0) return;
      answeredTo = printed.length;
      const [answered] = left.splice(question, 1);
      child.stdin.write(`${answered?.[1] ?? ""}\n`);
    });
    const [exitCode] = (await once(child, "close")) as [number | null];
    expect({ exitCode, left }).toEqual({ exitCode: 0, left: [] });
    return printed.trimEnd().split("\n");
  }

  /** What its comment says that it prints; `<…>` stands for any text. */
  async function promised(example: string): Promise<RegExp> {
    const source = await readFile(join(consumer.folder, `${example}.ts`), "utf8");
    const [, said] = /^ \* Prints: (.+)$/m.exec(source) ?? [];
    if (said === undefined) throw new Error(`${example}.ts does not say what it prints`);
    const literal = said.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    return new RegExp(`^${literal.replaceAll(/<[^>]+>/g, "(.+)")}$`);
  }

  const signed = (number: string) => rig.simulator.documents(number)[0]?.receipt?.cuInvoiceNo ?? "none";

  test("type-check with a bundler's module resolution too", async () => {
    await consumer.compile({ module: "preserve", moduleResolution: "bundler" });
    expect(consumer.examples).toEqual([
      "needs-an-operator.ts",
      "receipt-pdf.ts",
      "refund-a-sale.ts",
      "start-a-sale.ts",
      "without-the-package.ts",
    ]);
  });

  test("start-a-sale prints the receipt, and a second run finds the same sale", async () => {
    const [first = ""] = await run("start-a-sale");
    expect(first).toMatch(await promised("start-a-sale"));
    expect(first).toContain(signed("DUKA-3001"));
    expect(await run("start-a-sale")).toEqual([first.replace("(started)", "(known)")]);
    expect(rig.simulator.documents("DUKA-3001")).toHaveLength(1);
  });

  test("refund-a-sale prints the credit note's receipt, and a second run finds the same credit note", async () => {
    await run("start-a-sale");
    const [first = ""] = await run("refund-a-sale");
    expect(first).toMatch(await promised("refund-a-sale"));
    expect(first).toContain(signed("CN-3001"));
    expect(await run("refund-a-sale")).toEqual([first]);
    expect(rig.simulator.documents("CN-3001")).toHaveLength(1);
  });

  test("receipt-pdf writes the receipt, and a second run writes the same bytes", async () => {
    await run("start-a-sale");
    const [first = ""] = await run("receipt-pdf");
    expect(first).toMatch(await promised("receipt-pdf"));
    const file = await readFile(join(consumer.folder, "DUKA-3001.pdf"));
    const [page] = await readPdf(file);
    const [booked] = rig.simulator.documents("DUKA-3001");
    expect(page?.qr).toBe(booked?.receipt?.verificationUrl);
    expect(page?.text).toContain(signed("DUKA-3001"));
    expect(page?.text).toContain(`Total ${booked?.totals.total.toFixed(2)}`);
    expect(await run("receipt-pdf")).toEqual([first]);
    expect(await readFile(join(consumer.folder, "DUKA-3001.pdf"))).toEqual(file);
  });

  test("without-the-package prints the receipt of one sale, however often it is run", async () => {
    const [first = ""] = await run("without-the-package");
    expect(first).toMatch(await promised("without-the-package"));
    expect(first).toContain(signed("DUKA-3003"));
    expect(await run("without-the-package")).toEqual([first]);
    expect(rig.simulator.documents("DUKA-3003")).toHaveLength(1);
  });

  test("needs-an-operator asks about each sale that needs an operator, and sends the answers", async () => {
    expect(await run("needs-an-operator")).toEqual([""]);
    const movement = "DUKA-3004/item_unga/sold";
    const lost = { operation: "adjustStock", when: "after", kind: "drop", times: 1 } as const;
    rig.simulator.inject({ ...lost, match: { referenceId: movement } });
    const unknown = [{ ...LINE, sku: "NO-SUCH" }];
    await rig.starter.startSale({ traderInvoiceNumber: "DUKA-3002", businessId: "biz_demo", lines: unknown });
    const sale = { traderInvoiceNumber: "DUKA-3004", businessId: "biz_demo", lines: [LINE], refundWindow: "0" };
    const { workflowId } = await rig.starter.startSale(sale);
    const listed = () => rig.client.workflow.count("FiscalAttention IS NOT NULL");
    await expect.poll(listed).toMatchObject({ count: 2 });

    const printed = await run("needs-an-operator", [
      [/DUKA-3002: item-unknown, [^]*Is it corrected\? .*skip: $/, "yes"],
      [/Has the API made the movement DUKA-3004\/item_unga\/sold\? .*skip: $/, "yes"],
    ]);
    expect(printed).toContainEqual(expect.stringMatching(await promised("needs-an-operator")));
    expect(await rig.client.workflow.getHandle(workflowId).result()).toMatchObject({
      stage: "completed",
      stockMovements: [{ referenceId: movement, state: "applied", decision: { applied: true } }],
    });
    expect(rig.simulator.books().movements.filter(({ referenceId }) => referenceId === movement)).toHaveLength(1);
    const { decisions } = await rig.starter.getSale({ invoice: "DUKA-3002", businessId: "biz_demo" });
    expect(decisions).toMatchObject([{ update: "retry", code: "item-unknown", note: "corrected" }]);
  });
});
