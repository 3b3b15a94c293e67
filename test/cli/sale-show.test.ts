import { afterAll, beforeAll, expect, test } from "vitest";

import { callCli } from "../../src/cli/test-support/call-cli.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const line = { itemId: "item_tea", quantity: 2, unitPrice: 350 };

describeWithTemporal("fiscalflow sale show:", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig.close());

  test("show has a timeline: calls with their attempts and durations, waits, the end", async () => {
    rig.simulator.setAuthority("STORY-1", [{ do: "reject", reason: "Closed" }, { do: "accept" }]);
    rig.simulator.inject({
      operation: "createSale",
      when: "before",
      kind: "status",
      times: 1,
      match: { invoice: "STORY-1" },
    });
    const input = { traderInvoiceNumber: "STORY-1", businessId: "biz_1", lines: [line], refundWindow: "0" };
    const { workflowId } = await rig.starter.startSale(input);
    await rig.client.workflow.getHandle(workflowId).result();

    const show = (...flags: string[]) => callCli(["sale", "show", "STORY-1", ...flags], { env: commandEnv(rig) });
    const { stdout } = await show();
    const [, page = ""] = stdout.split("Timeline, from ");
    const whats = page
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((one) => one.slice(12));
    expect(whats[0]).toBe("started");
    expect(whats).toContainEqual(expect.stringMatching(/^Issue the sale STORY-1: rejected, \d+\.\d s, 2 attempts/));
    expect(whats).toContainEqual(expect.stringMatching(/^Submit the document again: completed, \d+\.\d s$/));
    expect(whats).toContainEqual(expect.stringMatching(/^Take 2 × Tea leaves 500 g from stock: applied, \d+\.\d s$/));
    expect(whats.at(-1)).toBe("closed");
    const json = JSON.parse((await show("--json")).stdout) as { timeline: object };
    expect(json.timeline).toContainEqual({ atMs: expect.any(Number), what: "closed" });
  });

  test("show CN-… shows the sale that the credit note reverses, and says so", async () => {
    const input = { traderInvoiceNumber: "NOTED-1", businessId: "biz_1", lines: [line] };
    await rig.starter.startSaleAndWait(input, { waitSeconds: 20 });
    const refund = { reason: "06", traderInvoiceNumber: "CN-NOTED-1" } as const;
    await rig.starter.refund({ invoice: "NOTED-1" }, refund, { waitSeconds: 20 });
    const show = (...argv: string[]) => callCli(["sale", "show", ...argv], { env: commandEnv(rig) });
    const withoutConnection = { COMPLIANCE_BASE_URL: "", COMPLIANCE_API_KEY: "", COMPLIANCE_BUSINESS_ID: "" };
    const shown = await show("CN-NOTED-1");
    expect(shown).toEqual({
      ...(await show("NOTED-1")),
      stderr: "CN-NOTED-1 is the number of a credit note of the sale NOTED-1, which is shown here.\n",
    });
    expect(shown.exitCode).toBe(0);
    expect(shown.stdout).toContain("Sale NOTED-1 of biz_1");
    const json = await show("CN-NOTED-1", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ creditNote: { traderInvoiceNumber: "CN-NOTED-1" } });
    expect(json.stderr).toContain("of the sale NOTED-1");
    // Temporal does not know it by that number: the ledger is asked, whatever is configured here.
    const elsewhere = await callCli(["sale", "show", "CN-NOTED-1", "--business", "biz_1"], {
      env: { ...commandEnv(rig), ...withoutConnection },
    });
    expect(elsewhere).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("Sale NOTED-1 of biz_1"),
      stderr: shown.stderr,
    });
  });
});
