import { afterAll, beforeAll, expect, test } from "vitest";

import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { purchaseOf } from "../rig/purchases.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("the commands about purchases, items and the reconciliation", () => {
  let rig: Rig;
  let ledgerUrl: string;
  beforeAll(async () => {
    const purchases = Array.from({ length: 12 }, (_, n) => purchaseOf(n, n === 3 ? { status: "pulled" } : {}));
    rig = await startRig({ simulator: { scenario: { purchases } }, receiver: false });
    ledgerUrl = rig.config.ledger.url?.reveal() ?? "";
  });
  afterAll(() => rig?.close());

  function cli(...argv: string[]): Promise<CliResult> {
    const env = {
      ...commandEnv(rig),
      LEDGER_URL: ledgerUrl,
    };
    return callCli(argv, { env });
  }

  test("a synchronisation with --wait prints what the ledger holds, and where invoices are decided", async () => {
    const { exitCode, stdout, stderr } = await cli("purchases", "sync", "--wait");
    expect(exitCode).toBe(0);
    expect(stderr).toContain("The synchronisation started (sync-purchases/default/biz_1).");
    expect(stdout).toContain("The ledger holds 12: 11 confirmed, 1 pulled.");
    expect(stdout).toContain("Waiting to be confirmed or rejected in the API's dashboard: 1");
  });

  test("the findings of a synchronisation are printed with what to do", async () => {
    rig.simulator.updatePurchase(purchaseOf(3).id, { confirmationError: "No such item" });
    const { supplier, supplierInvoiceNumber } = purchaseOf(1);
    rig.simulator.addPurchase(purchaseOf(2, { id: "pur_twice", supplier, supplierInvoiceNumber }));
    const { stdout } = await cli("purchases", "sync", "--full", "--wait");
    expect(stdout).toContain("\nFinding: With an error of the confirmation (correct it in the dashboard): 1\n");
    expect(stdout).toContain(`S-1 of ${supplier.pin}: pur_000001, pur_twice`);
    expect(stdout).toContain("S-3 (pur_000003): No such item");
  });

  test("--json prints one JSON document as the result", async () => {
    const { stdout } = await cli("purchases", "sync", "--from", "2020-01-03", "--wait", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      workflowId: "sync-purchases/default/biz_1",
      result: { kind: "window", total: 13 },
    });
  });

  test("a job that runs already is shown, and other options do not start a second one", async () => {
    rig.simulator.inject({ operation: "pullPurchases", when: "before", kind: "status", status: 503 });
    await cli("purchases", "sync");
    const again = await cli("purchases", "sync");
    expect([again.exitCode, again.stdout]).toEqual([0, "sync-purchases/default/biz_1: runs already\n"]);
    const full = await cli("purchases", "sync", "--full");
    expect([full.exitCode, full.stdout]).toEqual([1, ""]);
    expect(full.stderr).toContain("Wait until it has ended, then ask again for full.");
    rig.simulator.clearFaults();
    expect((await cli("purchases", "sync", "--wait")).exitCode).toBe(0);
  });

  test("a job that needs an operator ends the command with 1 and prints the command that resolves it", async () => {
    const scopes = ["sales:read", "catalog:read", "catalog:write"] as const;
    rig.simulator.setKey("cmp_sk_test_simulator", { scopes: [...scopes] });
    const parked = await cli("purchases", "sync", "--wait");
    expect(parked.exitCode).toBe(1);
    expect(parked.stdout).toContain("Needs an operator: credentials");
    expect(parked.stdout).toContain("    fiscalflow purchases retry --business biz_1\n");
    const listing = async (): Promise<unknown> =>
      JSON.parse((await cli("jobs", "list", "--attention", "--json")).stdout);
    // The listing follows by a second or so.
    await expect.poll(listing).toMatchObject([
      {
        workflowId: "sync-purchases/default/biz_1",
        attention: "credentials",
        status: "running",
      },
    ]);
    expect((await cli("jobs", "list", "--attention")).stdout).toMatch(
      /^The API has refused the key since .*: 1 job waits \(connection default\)\n\nJOB +STATUS +NEEDS AN OPERATOR +STARTED\s*\nsync-purchases\/default\/biz_1 +running +credentials .* EAT\s*$/,
    );
    const shown = await cli("jobs", "show", "sync-purchases/default/biz_1");
    expect(shown.stdout).toMatch(/^sync-purchases\/default\/biz_1, started .* EAT: 0 pages .*; waits for /);
    expect(shown.stdout).toContain("    fiscalflow purchases retry --business biz_1\n");
    expect((await cli("jobs", "list", "--attention", "--connection", "other")).stdout).toBe("None.\n");
    rig.simulator.setKey("cmp_sk_test_simulator", { scopes: [...scopes, "purchases:read"] });
    const retried = await cli("purchases", "retry", "--note", "scope added");
    expect([retried.exitCode, retried.stdout]).toEqual([0, expect.stringContaining("Trying again.")]);
    expect((await cli("purchases", "sync", "--wait")).exitCode).toBe(0);
    await expect.poll(listing).toEqual([]);
    const late = await cli("purchases", "retry");
    expect([late.exitCode, late.stdout]).toEqual([1, ""]);
    expect(late.stderr).toContain(
      "No synchronisation runs as sync-purchases/default/biz_1, so nothing waits for an operator.",
    );
    expect((await cli("jobs", "show", "sync-purchases/default/biz_1")).stdout).toMatch(
      /^sync-purchases\/default\/biz_1, started .*: has ended\n\d+ pages? with .*\nThe ledger holds /,
    );
    const unknown = await cli("jobs", "show", "sale/default/biz_1/INV-1");
    expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("Temporal has no job with the id")]);
    const closed = (await cli("jobs", "list")).stdout;
    expect(closed).toMatch(/^sync-purchases\/default\/biz_1 +completed +- +.* EAT\s*$/m);
  });

  test("the list says how each closed job ended, and jobs show why", async () => {
    const { workflow } = rig.client;
    const sync = (await cli("purchases", "sync", "--json")).stdout;
    const handle = workflow.getHandle(JSON.parse(sync).workflowId);
    await handle.terminate("by mistake");
    const listed = async (): Promise<unknown> =>
      JSON.parse((await cli("jobs", "list", "--limit", "2", "--json")).stdout);
    await expect
      .poll(listed)
      .toMatchObject([
        { status: "terminated" },
        { status: "completed", startedAt: expect.stringMatching(/\d\+03:00$/) },
      ]);
    const shown = await cli("jobs", "show", handle.workflowId);
    expect(shown.stdout).toMatch(/: was terminated \("by mistake"/);
  });

  test("a catalogue is registered, and unregistered items are listed with what they lack", async () => {
    const { exitCode, stdout, stderr } = await cli("items", "register", "--wait");
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/\d of (6|\?) items: /);
    expect(stdout).toContain("1 registered, 4 registered already, 1 lacks data");
    expect(stdout).toContain("item_incomplete (Sundries, not yet classified): lacks classificationMapping");
    const report = await cli("items", "report");
    expect(report.stdout).toBe("item_incomplete (Sundries, not yet classified): lacks classificationMapping\n");
  });

  test("an unknown branch ends the command with the known ones", async () => {
    const parked = await cli("items", "register", "item_new", "--branch", "77", "--force", "--wait");
    expect(parked.exitCode).toBe(1);
    expect(parked.stdout).toContain("branches: branch_1 00, branch_2 01");
    rig.simulator.addBranch("biz_1", { id: "branch_77", authorityBhfId: "77" });
    expect((await cli("items", "retry")).exitCode).toBe(0);
    const followed = await cli("items", "register", "--wait");
    expect(followed.stdout).toMatch(/^(1 registered|5 registered already)/);
  });

  test("the reconcile command runs a reconciliation, and says what was not compared", async () => {
    const { exitCode, stdout, stderr } = await cli("reconcile", "--wait");
    expect(stderr).toContain("The reconciliation started (reconcile/default/biz_1).");
    expect(stdout).toContain("not held against bill payments");
    expect(stdout).toMatch(/\nAll that was compared matches\.\n$/);
    expect(exitCode).toBe(0);
  });

  test.each([
    [["reconcile", "--since", "yesterday"], "unknown option '--since'"],
    [["purchases", "sync", "--from", "yesterday"], "YYYY-MM-DD"],
    [["purchases", "sync", "--from", "2026-01-01", "--full"], "cannot be used with option '--full'"],
    [["items", "register", ""], "at least 1 character"],
    [["purchases", "sync", "--connection", "other"], "is not configured here"],
  ])("%j is a wrong call", async (argv, message) => {
    const { exitCode, stderr } = await cli(...argv);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
