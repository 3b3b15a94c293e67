import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";

import { type Simulator, startSimulator } from "./simulator/index.ts";
import { TRIGGERS } from "./simulator/triggers.ts";
import { callCli, type CliResult } from "../cli/test-support/call-cli.ts";

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.close());

const trouble = (...words: string[]): Promise<CliResult> => callCli(["simulator", ...words, "--url", simulator.url]);

async function createSale(traderInvoiceNumber: string): Promise<Response> {
  return await fetch(`${simulator.url}/v1/sales?businessId=biz_1`, {
    method: "POST",
    headers: { "x-api-key": "cmp_sk_test_simulator", "content-type": "application/json" },
    body: JSON.stringify({ traderInvoiceNumber, lines: [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }] }),
  });
}

describe("simulator trigger", () => {
  test.each(Object.keys(TRIGGERS))("%s is set, shown, and ended by its name", async (name) => {
    const triggered = await trouble("trigger", name);
    expect(triggered).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(new RegExp(`^${name}: strikes `)) });
    expect(triggered.stderr).toContain(`fiscalflow simulator end ${name}`);
    expect(simulator.books().faults.active).toMatchObject([{ trigger: name }]);
    expect(await trouble("end", name)).toMatchObject({ exitCode: 0, stdout: `${name}: ended; it struck nothing.\n` });
    expect(simulator.books().faults.active).toEqual([]);
  });

  test("rejected rejects the next document and its resubmissions, or one number's alone", async () => {
    const { stdout } = await trouble("trigger", "rejected", "--invoice", "INV-2");
    expect(stdout).toMatch(
      /^rejected: strikes the next submission to the authority of INV-2, 4 times\. The tax authority /,
    );
    await createSale("INV-1");
    await createSale("INV-2");
    expect(simulator.documents().map(({ traderInvoiceNumber, status }) => `${traderInvoiceNumber} ${status}`)).toEqual([
      "INV-1 completed",
      "INV-2 failed",
    ]);
    await trouble("end");
    const { stdout: again } = await trouble("trigger", "rejected");
    expect(again).toMatch(/^rejected: strikes the next submission to the authority, 4 times\. /);
    for (const number of ["INV-3", "INV-4", "INV-5", "INV-6", "INV-7"]) await createSale(number);
    expect(simulator.documents().filter(({ status }) => status === "failed")).toHaveLength(5);
    expect(await trouble("end")).toMatchObject({ stdout: "Nothing was set.\n" });
  });

  test("authority-slow says what there is to see, and from when a retry is taken", async () => {
    const { stdout } = await trouble("trigger", "authority-slow");
    expect(stdout).toContain("stay in flight, also once this is ended. `fiscalflow sale show` shows it; once it says");
    expect(stdout).toContain("`fiscalflow sale retry` submits it again, and not before.");
  });

  test("credentials refuses every key until it is ended", async () => {
    await trouble("trigger", "credentials");
    expect((await createSale("INV-1")).status).toBe(401);
    expect(await trouble("end")).toMatchObject({ stdout: "credentials: ended; it struck once.\n" });
    expect((await createSale("INV-1")).status).toBe(201);
  });

  test("lists the troubles, and which of them can be limited to an invoice", async () => {
    const unknown = await trouble("trigger", "earthquake");
    expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("stock-unknown") });
    const narrowed = await trouble("trigger", "slow", "--invoice", "INV-1");
    expect(narrowed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("cannot be narrowed") });
  });

  test("without a simulator says how to start one, also where something else answers", async () => {
    const elsewhere = ["simulator", "trigger", "slow"];
    const nobody = await callCli(elsewhere, { env: { COMPLIANCE_BASE_URL: "http://127.0.0.1:9" } });
    expect(nobody).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("http://127.0.0.1:9") });
    const other = createServer((_request, response) => response.writeHead(200).end("<html>A shop</html>"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const answered = await callCli([...elsewhere, "--url", url]);
    expect(answered).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`No simulator answers at ${url}`) });
  });
});
