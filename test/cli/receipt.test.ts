import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { creditNoteWorkflowId } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const DIALECT = { receiptDownload: { method: "GET", path: "/v1/sales/{id}/file", accept: "application/pdf" } };

describeWithTemporal("fiscalflow receipt", () => {
  let rig: Rig;
  let folder: string;
  beforeAll(async () => {
    rig = await startRig({ receiver: false, simulator: { dialect: DIALECT } });
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-receipt-"));
    await rig.starter.startSale({ traderInvoiceNumber: "R-1", lines: [TEA], refundWindow: "0" }, { waitSeconds: 20 });
    rig.simulator.setAuthority("R-2", [{ do: "down" }]);
    await rig.starter.startSale({ traderInvoiceNumber: "R-2", lines: [TEA], refundWindow: "0" });
    await rig.stateWhen("R-2", ({ stage }) => stage === "awaiting-authority");
  });
  afterAll(async () => {
    rig.simulator.setAuthority("R-2", [{ do: "accept" }]);
    await rig.stateWhen("R-2", ({ stage }) => stage === "completed");
    await rig.close();
    await rm(folder, { recursive: true });
  });

  function receipt(argv: string[], dialect: unknown = DIALECT): Promise<CliResult> {
    return callCli(["receipt", ...argv], {
      env: {
        TEMPORAL_ADDRESS: rig.address,
        TEMPORAL_NAMESPACE: rig.namespace,
        COMPLIANCE_BASE_URL: rig.simulator.url,
        COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
        COMPLIANCE_BUSINESS_ID: "biz_1",
        COMPLIANCE_DIALECT: JSON.stringify(dialect),
      },
    });
  }
  const signedNumber = () => rig.simulator.documents("R-1")[0]?.receipt?.cuInvoiceNo ?? "no number";

  test("shows what was signed", async () => {
    const shown = await receipt(["R-1"]);
    expect(shown).toMatchObject({ exitCode: 0, stderr: "" });
    expect(shown.stdout).toContain(signedNumber());
    expect(JSON.parse((await receipt(["R-1", "--json"])).stdout)).toMatchObject({ cuInvoiceNo: signedNumber() });
  });

  test("--original writes the service's own file, and nothing beside it", async () => {
    const out = join(folder, "one.pdf");
    const { exitCode, stdout, stderr } = await receipt(["R-1", "--original", "--out", out, "--json"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const text = await readFile(out, "utf8");
    expect(text).toContain(`% receipt ${signedNumber()}`);
    const saleId = rig.simulator.documents("R-1")[0]?.id;
    expect(JSON.parse(stdout)).toEqual({ saleId, file: out, contentType: "application/pdf", bytes: text.length });
    expect(await readdir(folder)).toEqual(["one.pdf"]);
  });

  test("an existing file is kept, unless --force replaces it", async () => {
    const out = join(folder, "two.pdf");
    await writeFile(out, "mine");
    const calls = rig.callsOf("R-1");
    const refused = await receipt(["R-1", "--original", "--out", out]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain(`The file ${out} exists already.`);
    expect(await readFile(out, "utf8")).toBe("mine");
    expect(rig.callsOf("R-1")).toEqual(calls);
    expect(await receipt(["R-1", "--original", "--out", out, "--force"])).toMatchObject({ exitCode: 0 });
    expect(await readFile(out, "utf8")).toContain("%PDF");
    await rm(out);
  });

  test("an answer that breaks off leaves no file", async () => {
    rig.simulator.inject({ operation: "receiptDownload", when: "after", kind: "half-body", times: 1 });
    const broken = await receipt(["R-1", "--original", "--out", join(folder, "half.pdf")]);
    expect(broken).toMatchObject({ exitCode: 1, stdout: "" });
    expect(await readdir(folder)).not.toContain("half.pdf");
    expect((await readdir(folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("a content type that the service does not serve ends with 1 and its word", async () => {
    const png = { receiptDownload: { ...DIALECT.receiptDownload, accept: "image/png" } };
    const refused = await receipt(["R-1", "--original", "--out", join(folder, "three.png")], png);
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toContain("served as application/pdf only");
  });

  test("without the dialect's word it is a wrong configuration, and the message says what to set", async () => {
    const off = await receipt(["R-1", "--original"], {});
    expect(off).toMatchObject({ exitCode: 2, stdout: "" });
    expect(off.stderr).toContain("receiptDownload is off");
    expect(off.stderr).toContain(`COMPLIANCE_DIALECT='{"receiptDownload":{"method":"GET","path":"/v1/sales/{id}/…"`);
  });

  test("a sale that is not signed yet has none", async () => {
    for (const argv of [["R-2"], ["R-2", "--original", "--out", join(folder, "four.pdf")]]) {
      const none = await receipt(argv);
      expect(none).toMatchObject({ exitCode: 1, stdout: "" });
      expect(none.stderr).toContain("The sale R-2 has no receipt yet");
    }
  });

  test("--credit-note shows what was signed for a credit note that was issued after the refund window", async () => {
    const none = await receipt(["R-1", "--credit-note"]);
    expect(none).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("R-1 has no credit note.") });
    const request = { reason: "06", traderInvoiceNumber: "CN-R-1" } as const;
    const noteNumber = () => rig.simulator.documents("CN-R-1")[0]?.receipt?.cuInvoiceNo ?? "no number";
    rig.simulator.setAuthority("CN-R-1", [{ do: "down" }]);
    await rig.starter.refund({ invoice: "R-1" }, request);
    const inFlight = await receipt(["R-1", "--credit-note"]);
    expect(inFlight).toMatchObject({ exitCode: 1, stdout: "" });
    expect(inFlight.stderr).toContain("The credit note of the sale R-1 has no receipt yet");
    rig.simulator.setAuthority("CN-R-1", [{ do: "accept" }]);
    await rig.starter.refund({ invoice: "R-1" }, request, { waitSeconds: 20 });
    const shown = await receipt(["R-1", "--credit-note"]);
    expect(shown).toMatchObject({ exitCode: 0, stderr: "" });
    expect(shown.stdout).toContain(noteNumber());
    expect(noteNumber()).not.toBe(signedNumber());

    const saleId = rig.simulator.documents("R-1")[0]?.id ?? "";
    const noteId = creditNoteWorkflowId({ connection: "default", businessId: "biz_1", saleId });
    for (const workflowId of [rig.starter.workflowId({ invoice: "R-1" }), noteId]) {
      await rig.client.workflow.getHandle(workflowId).result();
      await forgetWorkflow(rig, workflowId);
    }
    expect(await receipt(["R-1", "--credit-note"])).toEqual(shown);
  });

  test("shows what the ledger keeps of a sale whose workflow Temporal has deleted", async () => {
    const sale = { traderInvoiceNumber: "R-3", lines: [TEA], refundWindow: "0" };
    const { workflowId } = await rig.starter.startSale(sale, { waitSeconds: 20 });
    await rig.client.workflow.getHandle(workflowId).result();
    const before = await receipt(["R-3"]);
    expect(before).toMatchObject({ exitCode: 0, stderr: "" });
    await forgetWorkflow(rig, workflowId);
    expect(await receipt(["R-3"])).toEqual(before);
  });

  test.each([
    [["R-1", "--out", "x"], "add --original"],
    [["R-1", "--original", "--out", "/no/such/folder/x"], "cannot be written (ENOENT)"],
  ])("%j is a wrong call", async (argv, message) => {
    const { exitCode, stderr } = await receipt(argv);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
