import { afterAll, beforeAll, expect, test } from "vitest";

import { triggerFault } from "../../src/dev/simulator/triggers.ts";
import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const line = { itemId: "item_tea", quantity: 2, unitPrice: 350 };

describeWithTemporal("fiscalflow sale watch and show:", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig.close());

  function sale(argv: string[], more: { env?: Record<string, string>; onOutput?: (text: string) => void } = {}) {
    const { env = {}, onOutput } = more;
    const services = {
      ...commandEnv(rig),
    };
    return callCli(["sale", ...argv], { env: { ...services, ...env }, ...(onOutput && { onOutput }) });
  }

  test("watch prints each change once, and ends when an operator has resolved what the sale needs", async () => {
    const movement = "WATCH-1/item_tea/sold";
    rig.simulator.setAuthority("WATCH-1", [{ do: "down" }]);
    rig.simulator.inject({
      operation: "adjustStock",
      when: "after",
      kind: "drop",
      times: 1,
      match: { referenceId: movement },
    });
    await rig.starter.startSale({ traderInvoiceNumber: "WATCH-1", businessId: "biz_1", lines: [line] });
    let said = "";
    let told = (): void => undefined;
    const says = (words: string): Promise<void> =>
      new Promise((resolve) => {
        told = () => said.includes(words) && resolve();
        told();
      });
    const watching: Promise<CliResult> = sale(["watch", "WATCH-1"], {
      onOutput: (text) => {
        said += text;
        told();
      },
    });
    await says("needs an operator: stock-unknown");
    rig.simulator.setAuthority("WATCH-1", [{ do: "accept" }]);
    await says("completed");
    await sale(["resolve-stock", "WATCH-1", "--reference", movement, "--applied", "--note", "the balance fell by 2"]);
    const { exitCode, stdout, stderr } = await watching;
    expect(exitCode).toBe(0);
    expect(stderr).toBe("How to resolve it: fiscalflow sale show WATCH-1. This command goes on watching.\n");
    const lines = stdout.trimEnd().split("\n");
    expect(lines.at(-1)).toMatch(/^\d\d:\d\d:\d\d {2}completed, document .*, receipt .*; stock movements: 1 applied/);
    expect(new Set(lines.map((one) => one.slice(8))).size).toBe(lines.length);
    expect((await sale(["show", "WATCH-1"])).stdout).toMatch(
      /^ {2}\d\d:\d\d:\d\d {2}received the update resolveStock$/m,
    );
  });

  test("watch ends with the run that it follows, and says that nothing carries the sale on", async () => {
    const lines = [{ sku: "NO-SUCH", quantity: 1, unitPrice: 100 }];
    const { workflowId } = await rig.starter.startSale({ traderInvoiceNumber: "WATCH-4", businessId: "biz_1", lines });
    let said = "";
    const watching: Promise<CliResult> = sale(["watch", "WATCH-4"], { onOutput: (text) => void (said += text) });
    await expect.poll(() => said).toContain("needs an operator: item-unknown");
    await rig.client.workflow.getHandle(workflowId).terminate("by mistake");
    const { exitCode, stdout } = await watching;
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(
      /resolving-items when its workflow was terminated .*; waits for nothing: its workflow was terminated \("by mistake".*until it is restarted$/,
    );
  });

  test("start --wait and watch say on standard error, once, what a sale waits for while the API is away, and since when", async () => {
    const serves = rig.simulator.inject(triggerFault("away", {}));
    let said = "";
    const onOutput = (text: string): void => void (said += text);
    const input = { traderInvoiceNumber: "WATCH-5", businessId: "biz_1", lines: [line] };
    const starting = callCli(["sale", "start", "-", "--wait"], {
      env: commandEnv(rig),
      stdin: JSON.stringify(input),
      onOutput,
    });
    await expect.poll(() => said).toContain("The API has been away");
    said = "";
    const watching = sale(["watch", "WATCH-5"], { onOutput });
    await expect.poll(() => said).toContain("The API has been away");
    serves();
    for (const { exitCode, stdout, stderr } of await Promise.all([starting, watching])) {
      expect({ exitCode, stderr }).toEqual({
        exitCode: 0,
        stderr: expect.stringMatching(
          /^WATCH-5: waits for .+\. The API has been away since \d{4}-\d\d-\d\d \d\d:\d\d EAT, as far as calls show\n$/,
        ) as string,
      });
      expect(stdout).toContain("completed");
    }
  });

  test("watch of a settled sale is one line, also as JSON; of an unknown one it is an error", async () => {
    await rig.starter.startSaleAndWait(
      { traderInvoiceNumber: "WATCH-2", businessId: "biz_1", lines: [line] },
      { waitSeconds: 20 },
    );
    const { exitCode, stdout } = await sale(["watch", "WATCH-2", "--json"]);
    const seen = stdout
      .trimEnd()
      .split("\n")
      .map((one) => JSON.parse(one) as object);
    expect({ exitCode, last: seen.at(-1) }).toMatchObject({
      exitCode: 0,
      last: { stage: "completed", stockMovements: [{ state: "applied" }], waitingFor: expect.any(String) as string },
    });
    expect(await sale(["watch", "NO-SUCH"])).toMatchObject({ exitCode: 1, stdout: "" });
  });

  test("show has a timeline: calls with their attempts and durations, waits, the end", async () => {
    rig.simulator.setAuthority("WATCH-3", [{ do: "reject", reason: "Closed" }, { do: "accept" }]);
    rig.simulator.inject({
      operation: "createSale",
      when: "before",
      kind: "status",
      times: 1,
      match: { invoice: "WATCH-3" },
    });
    const input = { traderInvoiceNumber: "WATCH-3", businessId: "biz_1", lines: [line], refundWindow: "0" };
    const { workflowId } = await rig.starter.startSale(input);
    await rig.client.workflow.getHandle(workflowId).result();

    const { stdout } = await sale(["show", "WATCH-3"]);
    const [, page = ""] = stdout.split("Timeline, from ");
    const whats = page
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((one) => one.slice(12));
    expect(whats[0]).toBe("started");
    expect(whats).toContainEqual(expect.stringMatching(/^Issue the sale WATCH-3: rejected, \d+\.\d s, 2 attempts/));
    expect(whats).toContainEqual(expect.stringMatching(/^Submit the document again: completed, \d+\.\d s$/));
    expect(whats).toContainEqual(expect.stringMatching(/^Take 2 × Tea leaves 500 g from stock: applied, \d+\.\d s$/));
    expect(whats.at(-1)).toBe("closed");
    const json = JSON.parse((await sale(["show", "WATCH-3", "--json"])).stdout) as { timeline: object };
    expect(json.timeline).toMatchObject({
      complete: true,
      entries: expect.arrayContaining([{ atMs: expect.any(Number), what: "closed" }]),
    });
  });

  test("show --web prints the link, or how to get one", async () => {
    const id = "sale/default/biz_1/WATCH-9";
    const link = `http://localhost:8233/namespaces/${rig.namespace}/workflows/${encodeURIComponent(id)}`;
    const linked = await sale(["show", "WATCH-9", "--web"], { env: { TEMPORAL_UI_URL: "http://localhost:8233/" } });
    expect(linked).toEqual({ exitCode: 0, stdout: `${link}\n`, stderr: "" });
    const unlinked = await sale(["show", "WATCH-9", "--web"]);
    expect(unlinked).toMatchObject({
      exitCode: 0,
      stdout: `${id}\n`,
      stderr: expect.stringContaining("TEMPORAL_UI_URL"),
    });
  });
});
