import { WorkflowFailedError, WorkflowNotFoundError } from "@temporalio/client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { MAIN_TASK_QUEUE, nairobiInstant } from "../../src/contract/index.ts";
import { SaleNotFoundError } from "../../src/starter/index.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { LOOK_PAUSE_MS, PATIENCE_MS } from "../rig/patience.ts";
import { resetRun } from "../rig/reset-run.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

function saleOf(traderInvoiceNumber: string, more: object = {}): object {
  return { traderInvoiceNumber, lines: [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }], ...more };
}

describeWithTemporal("fiscalflow sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false, env: { COMPLIANCE_BUSINESSES: "biz_else" } });
  });
  afterAll(() => rig.close());

  function sale(argv: string[], input?: unknown, env: Record<string, string> = {}): Promise<CliResult> {
    return callCli(["sale", ...argv], {
      env: {
        ...commandEnv(rig),
        ...env,
      },
      ...(input !== undefined && { stdin: JSON.stringify(input) }),
    });
  }

  /** Lists follow the workflows by a moment. */
  async function listed(argv: string[], wanted: (stdout: string) => boolean): Promise<CliResult> {
    return expect
      .poll(() => sale(["list", ...argv]))
      .toSatisfy(({ stdout }: CliResult) => wanted(stdout))
      .then(() => sale(["list", ...argv]));
  }

  test("start --wait prints the outcome; the same again is the same sale; other content is refused", async () => {
    const first = await sale(["start", "-", "--wait", "20"], saleOf("CLI-1"));
    expect(first).toMatchObject({ exitCode: 0, stderr: "" });
    expect(first.stdout).toMatch(
      /^CLI-1: started \(sale\/default\/biz_1\/CLI-1\); completed, document \S+ completed, total 700\.00 \(tax \d+\.\d\d\), receipt/,
    );
    expect(first.stdout).toMatch(/\n {2}next: fiscalflow sale show CLI-1\n$/);

    const again = await sale(["start", "-", "--wait", "--json"], saleOf("CLI-1"));
    expect(again.exitCode).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({
      invoice: "CLI-1",
      result: "known",
      outcome: { stage: "completed", sale: { traderInvoiceNumber: "CLI-1" } },
    });

    const other = await sale(["start", "-"], saleOf("CLI-1", { paymentTypeCode: "02" }));
    expect(other).toMatchObject({ exitCode: 1, stdout: "" });
    expect(other.stderr).toContain("What differs: paymentTypeCode: 02, before none. Nothing was started.");
    expect(rig.simulator.documents("CLI-1")).toHaveLength(1);
  });

  test("start warns of what looks wrong in a sale, and refuses it where the configuration says so", async () => {
    const wrong = saleOf("CLI-WRONG", { customer: { pin: "P0123" } });
    const refused = await sale(["start", "-"], wrong, { COMPLIANCE_INPUT_CHECKS: "refuse" });
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("customer.pin: expected A or P");
    const warned = await sale(["start", "-", "--wait", "20"], wrong);
    expect(warned.exitCode).toBe(0);
    expect(warned.stderr).toMatch(
      /^Warning: CLI-WRONG: customer\.pin: expected A or P, .*, found "P0123"; the sale was sent all the same \(inputChecks: warn\)$/m,
    );
    expect(warned.stdout).toContain("completed");
  });

  test("refund warns of a date that looks wrong, and says that the credit note was sent all the same", async () => {
    await sale(["start", "-", "--wait", "20"], saleOf("CLI-DATED"));
    const refund = ["refund", "CLI-DATED", "--reason", "06", "--number", "CN-DATED", "--date", "2020-01-01"];
    const warned = await sale([...refund, "--wait", "20"]);
    expect(warned).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("is credited in full by CN-DATED") });
    expect(warned.stderr.trimEnd().split("\n")).toEqual([
      expect.stringMatching(
        /^Warning: CLI-DATED: returnDate: expected a day from .*; the credit note was sent all the same \(inputChecks: warn\)$/,
      ),
      expect.stringContaining("returnDate: expected no day before the sale's date, "),
    ]);
  });

  test("start prints the command that shows the sale with the business and connection of its file", async () => {
    const two = { COMPLIANCE_BUSINESSES: "biz_else" };
    const { stdout } = await sale(["start", "-"], saleOf("CLI-ELSE", { businessId: "biz_else" }), two);
    expect(stdout).toMatch(/\n {2}next: fiscalflow sale show CLI-ELSE --business biz_else\n$/);
    const elsewhere = { invoice: "CLI-ELSE", businessId: "biz_else" };
    await expect.poll(async () => (await rig.starter.getSale(elsewhere)).attentions).toHaveLength(1);
    const cancelled = await sale(["cancel", "CLI-ELSE", "--business", "biz_else", "--reason", "test over"]);
    expect(cancelled).toMatchObject({ exitCode: 0 });
  });

  test("a sale of a business that is not served is a wrong call, and the served one is named", async () => {
    const strange = saleOf("CLI-STRANGE", { businessId: "biz_strange" });
    for (const input of [strange, [saleOf("CLI-BESIDE"), strange]]) {
      const { exitCode, stdout, stderr } = await sale(["start", "-"], input);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toContain('The business "biz_strange" is not served');
      expect(stderr).toContain("Served: biz_1.");
    }
    const refund = ["refund", "CLI-1", "--reason", "06", "--number", "CN-STRANGE", "--business", "biz_strange"];
    expect(await sale(refund)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("Served: biz_1.") });
    expect(rig.callsOf("CLI-BESIDE")).toEqual([]);
    await expect(rig.starter.getSale({ invoice: "CLI-BESIDE" })).rejects.toThrow("CLI-BESIDE");
  });

  test("start of a list prints a line for each sale, and exits with 1 if one of them fails", async () => {
    const sales = [saleOf("CLI-2"), { ...saleOf("CLI-3"), lines: [{ sku: "nothing", quantity: 1, unitPrice: 1 }] }];
    const { exitCode, stdout, stderr } = await sale(["start", "-", "--wait", "20"], sales);
    expect(exitCode).toBe(1);
    expect(stdout.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/^CLI-2: started .* completed/),
      expect.stringMatching(/^CLI-3: started .* needs an operator: item-unknown$/),
    ]);
    expect(stderr).toBe("1 of 2 sales succeeded.\n");
  });

  test("start of a list counts those that are under way after the wait by themselves", async () => {
    rig.simulator.setAuthority("CLI-WAITS", [{ do: "down" }]);
    const sales = [saleOf("CLI-SOON"), saleOf("CLI-WAITS")];
    const { exitCode, stderr } = await sale(["start", "-", "--wait", "4"], sales);
    expect(stderr).toMatch(/^1 of 2 sales succeeded, and 1 is still under way\.$/m);
    expect(exitCode).toBe(0);
  });

  test("list shows a completed sale that was reset once, with the age of its first run", async () => {
    const completed = saleOf("CLI-RESET", { refundWindow: "0" });
    await sale(["start", "-", "--wait", "20"], completed);
    const workflowId = rig.starter.workflowId({ invoice: "CLI-RESET" });
    const first = await rig.client.workflow.getHandle(workflowId).describe();
    await rig.client.workflow.getHandle(workflowId).result();
    await resetRun(rig.client, rig.namespace, workflowId, "last-task");
    await rig.client.workflow.getHandle(workflowId).result();
    const runs = async () => {
      const { count } = await rig.client.workflow.count(
        `WorkflowId = "${workflowId}" AND ExecutionStatus = "Completed"`,
      );
      return count;
    };
    await expect.poll(runs).toBe(2);
    const { stdout } = await sale(["list", "--json"]);
    const rows = (JSON.parse(stdout) as { invoice: string }[]).filter(({ invoice }) => invoice === "CLI-RESET");
    expect(rows).toMatchObject([{ startedAt: nairobiInstant(first.startTime.getTime()) }]);
    const last = await rig.client.workflow.getHandle(workflowId).describe();
    expect(last.startTime).not.toEqual(first.startTime);
  });

  test("a list with a mistake starts none of its sales", async () => {
    const { exitCode, stderr } = await sale(["start", "-"], [saleOf("CLI-4"), { traderInvoiceNumber: "CLI-5" }]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("[1].lines: expected at least one line");
    expect(await sale(["show", "CLI-4"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("no workflow"),
    });
  });

  test("show prints what is known, and the command that resolves the attention, and that command works", async () => {
    // A refused registration is looked at again by nobody but an operator, so nothing else comes before the retry.
    const item = { id: "item_refused", businessId: "biz_1", sku: "REFUSED-1", name: "Refused", unitPrice: 5 };
    rig.simulator.addItem({ ...item, registrationStatus: "PENDING", registration: { reject: "class" } });
    await sale(["start", "-", "--wait"], {
      ...saleOf("CLI-6"),
      lines: [{ sku: "REFUSED-1", quantity: 1, unitPrice: 5 }],
    });
    const parked = await sale(["show", "CLI-6"]);
    expect(parked.exitCode).toBe(0);
    expect(parked.stdout).toMatch(
      /Needs an operator: item-rejected.*, since .*\n {2}Correct the item in the API's dashboard\.\n/,
    );
    expect(parked.stdout).toContain("    fiscalflow sale retry CLI-6");

    rig.simulator.updateItem("item_refused", { registration: ["accept"] });
    expect(await sale(["retry", "CLI-6", "--note", "corrected"])).toMatchObject({ exitCode: 0, stderr: "" });
    await expect
      .poll(async () => JSON.parse((await sale(["show", "CLI-6", "--json"])).stdout) as unknown)
      .toMatchObject({ stage: "completed", attentions: [], document: { status: "completed" } });
  });

  test("retry --query retries all that it finds, and reports the result of each", async () => {
    for (const number of ["CLI-7", "CLI-8"])
      await sale(["start", "-", "--wait"], { ...saleOf(number), lines: [{ sku: "never", quantity: 1, unitPrice: 1 }] });
    const query = "FiscalInvoice IN ('CLI-7', 'CLI-8', 'CLI-1')";
    await listed(["--json"], (stdout) => ["CLI-7", "CLI-8", "CLI-1"].every((number) => stdout.includes(`"${number}"`)));
    const { exitCode, stdout } = await sale(["retry", "--query", query, "--yes", "--json"]);
    expect(exitCode).toBe(0);
    const tried = JSON.parse(stdout) as Record<string, { workflowId: string; message: string }[]>;
    expect(tried["done"]?.map(({ workflowId }) => workflowId).toSorted()).toEqual([
      "sale/default/biz_1/CLI-7",
      "sale/default/biz_1/CLI-8",
    ]);
    expect(tried["skipped"]).toEqual([
      { workflowId: "sale/default/biz_1/CLI-1", message: expect.stringContaining("Nothing here waits for a retry") },
    ]);
    expect(tried["failed"]).toEqual([]);
    for (const number of ["CLI-7", "CLI-8"])
      expect(await sale(["cancel", number, "--reason", "test over"])).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("start without a worker says that no worker answers, and not that Temporal cannot be reached", async () => {
    await rig.stopWorkers();
    try {
      const calls = [
        ["show", "CLI-1"],
        ["retry", "CLI-3"],
      ];
      for (const { exitCode, stderr } of await Promise.all(calls.map((argv) => sale(argv)))) {
        expect(exitCode).toBe(1);
        expect(stderr).toMatch(/No worker (answered|serves the task queue)/);
        expect(stderr).not.toContain("cannot be reached");
      }
    } finally {
      await rig.startWorkers();
    }
  });

  test("a query that Temporal does not understand is a wrong call", async () => {
    const { exitCode, stderr } = await sale(["retry", "--query", "nonsense here", "--yes"]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/Temporal does not understand the query: .*\. It was sent as: .*\(nonsense here\)/);
  });

  test("an update that the stage does not allow ends with 1 and names the allowed ones", async () => {
    const { exitCode, stdout, stderr } = await sale(["cancel", "CLI-1", "--reason", "too late"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/a sale is reversed by a refund.*allowed updates:/);
  });

  test("resolve-stock settles a movement of unknown outcome", async () => {
    rig.simulator.inject({ operation: "adjustStock", when: "after", kind: "drop", times: 1 });
    await sale(["start", "-", "--wait"], saleOf("CLI-9"));
    await expect.poll(async () => (await sale(["show", "CLI-9"])).stdout).toContain("stock-unknown");
    const line =
      /fiscalflow sale (resolve-stock .* --applied .*)/.exec((await sale(["show", "CLI-9"])).stdout)?.[1] ?? "";
    const words = line.replace("'<how you know>'", "seen").split(" ");
    const stdout = expect.stringMatching(/^CLI-9: Recorded\./) as string;
    expect(await sale(words)).toEqual({ exitCode: 0, stdout, stderr: "" });
    const page = (await sale(["show", "CLI-9"])).stdout;
    expect(page).toContain("CLI-9/item_tea/sold: DEDUCT 2 of item_tea, applied");
    expect(page).toMatch(/Decisions\n.*resolveStock stock-unknown \(CLI-9\/item_tea\/sold\): applied; seen/);
  });

  test("after resolve-stock --not-applied show says how the movement came to be applied", async () => {
    rig.simulator.inject({ operation: "adjustStock", when: "before", kind: "drop", times: 1 });
    await sale(["start", "-", "--wait"], saleOf("CLI-12"));
    await expect.poll(async () => (await sale(["show", "CLI-12"])).stdout).toContain("stock-unknown");
    const answer = ["--reference", "CLI-12/item_tea/sold", "--not-applied", "--note", "not in the journal"];
    expect(await sale(["resolve-stock", "CLI-12", ...answer])).toMatchObject({ exitCode: 0, stderr: "" });
    await expect
      .poll(async () => (await sale(["show", "CLI-12"])).stdout)
      .toMatch(/of item_tea, applied \(.*; sent again after the decision 'not applied': not in the journal\)/);
  });

  test("resolve-stock takes an answer that contradicts the balance, and show says so", async () => {
    rig.simulator.inject({ operation: "adjustStock", when: "before", kind: "drop", times: 1 });
    await sale(["start", "-", "--wait"], saleOf("CLI-10"));
    await expect.poll(async () => (await sale(["show", "CLI-10"])).stdout).toContain("stock-unknown");
    expect((await sale(["show", "CLI-10"])).stdout).toMatch(/Last balance before it was sent: \d+ \(/);
    await sale(["start", "-", "--wait"], saleOf("CLI-11"));
    await expect
      .poll(async () => (await sale(["show", "CLI-10"])).stdout, { timeout: 30_000 })
      .toContain("The balance speaks against it: it was probably not applied.");
    const answer = ["--reference", "CLI-10/item_tea/sold", "--applied", "--note", "seen"];
    expect(await sale(["resolve-stock", "CLI-10", ...answer])).toMatchObject({ exitCode: 0 });
    expect((await sale(["show", "CLI-10"])).stdout).toMatch(
      /resolveStock stock-unknown .*: applied, .*balance.*; seen$/m,
    );
  });

  test("refund credits the sale once, and show has the credit note too", async () => {
    const refund = ["refund", "CLI-1", "--reason", "06", "--number", "CN-1", "--wait", "20"];
    const first = await sale(refund);
    expect(first).toMatchObject({ exitCode: 0, stderr: "" });
    expect(first.stdout).toMatch(/^CLI-1 is credited in full by CN-1 \(document \S+\)\.\n/);
    expect(first.stdout).toMatch(
      /\n {2}Credit note CN-1, total -700\.00 \(tax -\d+\.\d\d\)\n {4}\S+, NC \d+, [^\n]+\n {4}https?:\S+\n$/,
    );
    expect(await sale(refund)).toMatchObject({ exitCode: 0, stdout: first.stdout });
    expect(await sale(["refund", "CLI-1", "--reason", "06", "--number", "CN-2"])).toMatchObject({ exitCode: 1 });
    expect((await sale(["show", "CLI-1"])).stdout).toMatch(
      /Credit note {3}\S+ CN-1, completed, total -700\.00 .*\n {16}\S+, NC \d+, .*\n[^]*\nTimeline, from .*\n {2}\S+ {2}started\n[^]* {2}Issue the credit note CN-1: \w+, /,
    );
  });

  test("what the credit note waits for, the commands of its sale resolve", async () => {
    await sale(["start", "-", "--wait"], saleOf("CLI-NOTE"));
    rig.simulator.setAuthority("CN-NOTE", [{ do: "reject", reason: "No" }]);
    await sale(["refund", "CLI-NOTE", "--reason", "06", "--number", "CN-NOTE"]);
    await expect.poll(async () => (await sale(["show", "CLI-NOTE"])).stdout).toContain("Needs an operator: rejected");
    const { stdout } = await sale(["show", "CLI-NOTE"]);
    expect(stdout).toMatch(/^ {2}Stage {9}crediting$/m);
    expect(stdout).toMatch(/^ {2}Credit note {3}\S+ CN-NOTE, failed, total -700\.00 /m);
    expect(stdout).toContain(
      "\n    fiscalflow sale retry CLI-NOTE\n    fiscalflow sale cancel CLI-NOTE --reason '<why>'\n",
    );
    expect(await sale(["cancel", "CLI-NOTE", "--reason", "the buyer keeps it"])).toMatchObject({ exitCode: 0 });
    const kept = (await sale(["show", "CLI-NOTE"])).stdout;
    expect(kept).toMatch(/^ {2}Stage {9}completed$/m);
    expect(kept).toContain("the buyer keeps it");
    const { stdout: all } = await listed([], (said) => /^CLI-NOTE .* completed /m.test(said));
    expect(all).not.toContain("CN-NOTE");

    rig.simulator.setAuthority("CN-AGAIN", [{ do: "reject", reason: "No" }]);
    await sale(["refund", "CLI-NOTE", "--reason", "06", "--number", "CN-AGAIN"]);
    await expect.poll(async () => (await sale(["show", "CLI-NOTE"])).stdout).toContain("Needs an operator: rejected");
    rig.simulator.setAuthority("CN-AGAIN", [{ do: "accept" }]);
    expect(await sale(["retry", "CLI-NOTE"])).toMatchObject({ exitCode: 0 });
    await rig.client.workflow.getHandle(rig.starter.workflowId({ invoice: "CLI-NOTE" })).result();
  });

  test("refund --wait exits with 1 where the credit note is given up meanwhile", async () => {
    await sale(["start", "-", "--wait"], saleOf("CLI-UP"));
    rig.simulator.setAuthority("CN-UP", [{ do: "down" }]);
    const refunded = sale(["refund", "CLI-UP", "--reason", "06", "--number", "CN-UP", "--wait", "20"]);
    await rig.stateWhen("CLI-UP", ({ creditNote }) => creditNote !== undefined);
    await sale(["cancel", "CLI-UP", "--reason", "the buyer keeps it"]);
    rig.simulator.setAuthority("CN-UP", [{ do: "reject", reason: "No" }]);
    expect(await refunded).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining("CLI-UP is not refunded: its credit note CN-UP was given up."),
    });
  });

  test("refund and correct exit with 1 where the workflow ends while they wait", async () => {
    const ending = async (command: string[], invoice: string, input?: unknown): Promise<CliResult> => {
      await sale(["start", "-", "--wait"], saleOf(invoice));
      rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "down" }]);
      const asked = sale([...command, "--reason", "06", "--number", `CN-${invoice}`, "--wait", "60"], input);
      const handle = rig.client.workflow.getHandle(rig.starter.workflowId({ invoice }));
      // The sale answers the refund after 20 seconds. From then on the command waits for the outcome.
      const waitsForOutcome = async (): Promise<boolean> => {
        const { events } = await handle.fetchHistory();
        const names = (events ?? []).flatMap(
          (event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name ?? [],
        );
        return names.includes("refund") && names.at(-1) === "outcome";
      };
      await vi.waitUntil(waitsForOutcome, { timeout: 3 * PATIENCE_MS, interval: LOOK_PAUSE_MS });
      await handle.terminate("by mistake");
      return await asked;
    };
    const [refunded, corrected] = await Promise.all([
      ending(["refund", "CLI-END"], "CLI-END"),
      ending(["correct", "CLI-FIX", "-"], "CLI-FIX", saleOf("CLI-FIXED")),
    ]);
    expect(refunded).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('CLI-END is not refunded by CN-CLI-END yet: its workflow was terminated ("by mi'),
    });
    expect(corrected).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(
        /^Correction of CLI-FIX by CLI-FIXED, .*: its workflow was terminated \("by mistake"/,
      ),
    });
  });

  test("a sale that is refunded late is listed and shown as one, with the runs before", async () => {
    const input = { ...saleOf("CLI-LATE", { customer: { name: "Otieno" } }), businessId: "biz_1", refundWindow: "0" };
    // By another program, without a memo.
    const workflowId = "sale/default/biz_1/CLI-LATE";
    const options = { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [input] };
    const first = await rig.client.workflow.start("sale", options);
    await first.result();
    const startedAt = nairobiInstant((await first.describe()).startTime.getTime());
    rig.simulator.setAuthority("CN-LATE", [{ do: "down" }]);
    await sale(["refund", "CLI-LATE", "--reason", "06", "--number", "CN-LATE"]);
    const { stdout } = await listed([], (said) => said.includes("CN-LATE"));
    expect(stdout).toMatch(/^CLI-LATE .* crediting by CN-LATE .* Otieno +700\.00 /m);
    const all = JSON.parse((await sale(["list", "--json"])).stdout) as { invoice: string }[];
    expect(all.filter(({ invoice }) => invoice === "CLI-LATE")).toMatchObject([
      { stage: "crediting", status: "running", creditNote: "CN-LATE", startedAt },
    ]);

    rig.simulator.setAuthority("CN-LATE", [{ do: "accept" }]);
    const refund = ["refund", "CLI-LATE", "--reason", "06", "--number", "CN-LATE", "--wait", "20"];
    expect(await sale(refund)).toMatchObject({ exitCode: 0 });
    await rig.client.workflow.getHandle(workflowId).result();
    const page = (await sale(["show", "CLI-LATE"])).stdout;
    expect(page).toMatch(/^ {2}Stage {9}credited$/m);
    expect(page).toMatch(
      /\n {2}\S+ {2}started\n[^]* {2}Issue the sale CLI-LATE: \w+, [^]* {2}closed\n[^]* {2}received the update refund\n[^]* {2}Issue the credit note CN-LATE: \w+, [^]* {2}closed$/m,
    );
  });

  test("show of a credit note's number says of which sale it is, and of an unknown one how to see it", async () => {
    const known = "CN-1 is the number of a credit note of the sale CLI-1, which is shown here.\n";
    await expect.poll(() => sale(["show", "CN-1"])).toMatchObject({ exitCode: 0, stderr: known });
    const said = await sale(["show", "CN-404"]);
    expect(said).toMatchObject({ exitCode: 1, stdout: "" });
    expect(said.stderr).toContain("the ledger has no sale of that number");
  });

  test("list shows open sales first, --attention those that need an operator, and --limit how many more there are", async () => {
    await listed([], (stdout) => ["CLI-1", "CLI-2", "CLI-3", "CLI-9"].every((number) => stdout.includes(number)));
    const needing = await listed(["--attention", "--connection", "default"], (stdout) => !stdout.includes("CLI-9"));
    expect(needing.stdout).toContain("CLI-3");
    expect(needing.stdout).not.toContain("CLI-2");
    const one = await sale(["list", "--limit", "1", "--json"]);
    expect(JSON.parse(one.stdout)).toHaveLength(1);
    expect(one.stderr).toBe(
      "There are more than these, open ones first, then the latest of the others: --limit shows more.\n",
    );
    expect(await sale(["list", "--connection", "elsewhere"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Neither the ledger nor the configuration has a connection "elsewhere"'),
    });
    expect(await sale(["cancel", "CLI-3", "--reason", "test over"])).toMatchObject({ exitCode: 0 });
    expect((await sale(["show", "CLI-3"])).stdout).toMatch(/^ {2}Document {6}none$/m);
  });

  test("list --limit counts sales, and not the runs that a restarted sale has left behind", async () => {
    const numbers = ["CLI-RUNS-1", "CLI-RUNS-2", "CLI-RUNS-3"];
    const query = `FiscalInvoice IN (${numbers.map((number) => `"${number}"`).join(", ")})`;
    for (const number of numbers)
      await sale(["start", "-"], { ...saleOf(number), lines: [{ sku: "never", quantity: 1, unitPrice: 1 }] });
    for (const number of numbers) {
      await rig.client.workflow.getHandle(rig.starter.workflowId({ invoice: number })).terminate("by mistake");
      await rig.starter.restart({ invoice: number }, { note: "a slip" });
    }
    await expect.poll(async () => (await rig.client.workflow.count(query)).count).toBe(6);
    const numbersOf = ({ stdout }: CliResult) =>
      (JSON.parse(stdout) as { invoice: string }[]).map(({ invoice }) => invoice);
    const all = numbersOf(await sale(["list", "--json"]));
    const exactly = await sale(["list", "--json", "--limit", String(all.length)]);
    expect(exactly).toMatchObject({ exitCode: 0, stderr: "" });
    expect(numbersOf(exactly)).toEqual(all);
    const less = await sale(["list", "--json", "--limit", String(all.length - 1)]);
    expect(numbersOf(less)).toEqual(all.slice(0, -1));
    expect(less.stderr).toContain("There are more than these");
    for (const number of numbers) await sale(["cancel", number, "--reason", "test over"]);
  });

  test("list refuses a business that neither the ledger nor the configuration has, as every list does", async () => {
    for (const flags of [[], ["--attention"]]) {
      const none = await sale(["list", "--business", "biz_typo", ...flags]);
      expect(none).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining('business "biz_typo"') });
    }
    expect(await sale(["list", "--business", "biz_1", "--from", "2099-01-01"])).toEqual({
      exitCode: 0,
      stdout: "None.\n",
      stderr: "",
    });
  });

  test("list has the amount and the buyer of a sale that another program started, without a memo", async () => {
    // 413.375, of which the document states 413.38.
    const lines = [{ itemId: "item_tea", quantity: 2.5, unitPrice: 165.35 }];
    const input = { ...saleOf("CLI-OTHER", { customer: { name: "Wanjiku" }, lines }), businessId: "biz_1" };
    const workflowId = "sale/default/biz_1/CLI-OTHER";
    await rig.client.workflow.start("sale", { workflowId, taskQueue: "fiscalflow", args: [input] });
    const { stdout } = await listed(["--json"], (said) => said.includes('"CLI-OTHER"'));
    const all = JSON.parse(stdout) as { workflowId: string }[];
    expect(all.find((one) => one.workflowId === workflowId)).toMatchObject({ buyer: "Wanjiku", amount: "413.38" });
    const other = await sale(["start", "-"], saleOf("CLI-OTHER", { customer: { name: "Njeri" }, lines }));
    expect(other).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("What differs: customer.name.") });
    expect((await sale(["list"])).stdout).toMatch(/^CLI-OTHER .* Wanjiku +413\.38 /m);
  });

  test("list has the total of the document of a sale that was adopted without lines, open or closed", async () => {
    const [open, closed] = ["ADOPTED-OPEN", "ADOPTED-CLOSED"] as const;
    for (const [number, refundWindow] of [
      [open, "1 hour"],
      [closed, "0"],
    ] as const) {
      const issued = { businessId: "biz_1", traderInvoiceNumber: number, status: "completed" } as const;
      const lines = [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }];
      const { id } = rig.simulator.issueSale({ ...issued, lines });
      await rig.starter.startSaleAndWait({ traderInvoiceNumber: number, saleId: id, refundWindow });
    }
    await rig.client.workflow.getHandle(`sale/default/biz_1/${closed}`).result();
    for (const number of [open, closed])
      await listed([], (stdout) => new RegExp(`^${number} .* 700\\.00 `, "m").test(stdout));
    await rig.stopWorkers();
    const { stdout } = await sale(["list"]);
    await rig.startWorkers();
    for (const number of [open, closed]) expect(stdout).toMatch(new RegExp(`^${number} .* 700\\.00 `, "m"));
  });

  test("without --business the error lists the businesses, where the connection has several and no default", async () => {
    const several = { COMPLIANCE_BUSINESS_ID: "", COMPLIANCE_BUSINESSES: "biz_1,biz_2" };
    for (const [argv, input] of [[["show", "CLI-1"]], [["start", "-"], saleOf("CLI-NOBODY")]] as const) {
      const lost = await sale([...argv], input, several);
      expect(lost).toMatchObject({ exitCode: 2, stdout: "" });
      expect(lost.stderr).toContain("give --business ID (configured: biz_1, biz_2)");
    }
    expect(await sale(["show", "CLI-1", "--business", "biz_1"], undefined, several)).toMatchObject({ exitCode: 0 });
  });

  test.each([
    [["start", "-"], saleOf("CLI-ELSEWHERE", { connection: "elsewhere" })],
    [["start", "-", "--connection", "elsewhere"], [saleOf("CLI-ELSEWHERE")]],
    [["show", "CLI-1", "--connection", "elsewhere"], undefined],
    [["refund", "CLI-1", "--reason", "06", "--number", "CN-1", "--connection", "elsewhere"], undefined],
    [["cancel", "CLI-1", "--reason", "test", "--connection", "elsewhere"], undefined],
  ])("%j with a connection that is not configured is a wrong call, which starts nothing", async (argv, input) => {
    const refused = await sale([...argv, "--business", "biz_1"], input);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain('The connection "elsewhere" is not configured here, so nothing was done.');
    expect(refused.stderr).toContain("Configured: default.");
    const elsewhere = { invoice: "CLI-ELSEWHERE", connection: "elsewhere", businessId: "biz_1" };
    const started = rig.client.workflow.getHandle(rig.starter.workflowId(elsewhere));
    await expect(started.describe()).rejects.toThrow(WorkflowNotFoundError);
  });

  test("without any configured connection nothing is started, and an existing sale is found by --business", async () => {
    const without = { COMPLIANCE_BASE_URL: "", COMPLIANCE_API_KEY: "", COMPLIANCE_BUSINESS_ID: "" };
    const lost = await sale(["show", "CLI-1"], undefined, without);
    expect(lost).toMatchObject({ exitCode: 2, stdout: "" });
    expect(lost.stderr).toContain("Give --business ID");
    expect(await sale(["show", "CLI-1", "--business", "biz_1"], undefined, without)).toMatchObject({ exitCode: 0 });
    const refused = await sale(["start", "-", "--business", "biz_1"], [saleOf("CLI-UNCONFIGURED")], without);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("No connection is configured: set COMPLIANCE_BASE_URL");
    await expect(rig.starter.getSale({ invoice: "CLI-UNCONFIGURED" })).rejects.toThrow(SaleNotFoundError);
  });

  test("show says of a sale that a worker has refused to start it again, and not to restart it", async () => {
    const workflowId = rig.starter.workflowId({ invoice: "CLI-REFUSED" });
    const args = [saleOf("CLI-REFUSED", { lines: [] })];
    const refused = await rig.client.workflow.start("sale", { workflowId, taskQueue: MAIN_TASK_QUEUE, args });
    await expect(refused.result()).rejects.toThrow(WorkflowFailedError);
    const { stdout } = await sale(["show", "CLI-REFUSED"]);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain("nothing was sent: correct what was refused, and start it again");
    expect(stdout).not.toContain("restart");
  });
});
