import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";

import { runCli } from "../../src/cli/run-cli.ts";
import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { readEscPos } from "../../src/receipt/test-support/read-escpos.ts";
import { readPdf } from "../../src/receipt/test-support/read-pdf.ts";
import { readSvgQr } from "../../src/receipt/test-support/read-qr.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const DIALECT = { receiptDownload: { method: "GET", path: "/v1/sales/{id}/file", accept: "application/pdf" } };

describeWithTemporal("fiscalflow receipt", () => {
  let rig: Rig;
  let folder: string;
  beforeAll(async () => {
    rig = await startRig({
      receiver: false,
      simulator: { dialect: DIALECT },
      env: { COMPLIANCE_BUSINESSES: "biz_nobody" },
    });
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-receipt-"));
    await rig.starter.startSaleAndWait(
      { traderInvoiceNumber: "R-1", lines: [TEA], refundWindow: "0" },
      { waitSeconds: 20 },
    );
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

  const envOf = (dialect: unknown = DIALECT) => ({
    ...commandEnv(rig),
    COMPLIANCE_DIALECT: JSON.stringify(dialect),
    LEDGER_URL: rig.config.ledger.url?.reveal() ?? "",
    COMPLIANCE_SELLERS: JSON.stringify({ biz_1: { name: "Duka Moja Ltd", pin: "P051234567Z" } }),
  });
  function receipt(argv: string[], dialect?: unknown, more: Record<string, string> = {}): Promise<CliResult> {
    return callCli(["receipt", ...argv], { env: { ...envOf(dialect), ...more } });
  }

  /** Standard output as bytes. */
  async function bytesOf(argv: string[], isTTY = false): Promise<{ exitCode: number; bytes: Buffer; stderr: string }> {
    const out: Buffer[] = [];
    const said: Buffer[] = [];
    const into = (chunks: Buffer[]) =>
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          chunks.push(chunk);
          done();
        },
      });
    const exitCode = await runCli(["receipt", ...argv], {
      env: { TEMPORAL_CONFIG_FILE: "/nonexistent/temporal.toml", ...envOf() },
      stdin: Readable.from([]),
      stdout: Object.assign(into(out), { isTTY }),
      stderr: into(said),
      signal: new AbortController().signal,
    });
    return { exitCode, bytes: Buffer.concat(out), stderr: Buffer.concat(said).toString() };
  }
  const signedNumber = () => rig.simulator.documents("R-1")[0]?.receipt?.cuInvoiceNo ?? "no number";

  const verifyAt = (number: string) => rig.simulator.documents(number)[0]?.receipt?.verificationUrl ?? "no address";

  test("prints the receipt in 42 columns, with the amounts of the books; --json prints the signed values", async () => {
    const shown = await receipt(["R-1"]);
    expect(shown).toMatchObject({ exitCode: 0, stderr: "" });
    const [booked] = rig.simulator.documents("R-1");
    expect(shown.stdout).toMatch(new RegExp(`^CU invoice number +${signedNumber()}$`, "m"));
    expect(shown.stdout).toMatch(new RegExp(`^TOTAL +${booked?.totals.total.toFixed(2)}$`, "m"));
    expect(shown.stdout).toMatch(new RegExp(`^B 16%, tax +${booked?.totals.taxAmount.toFixed(2)}$`, "m"));
    expect(Math.max(...shown.stdout.split("\n").map((line) => line.length))).toBe(42);
    expect(JSON.parse((await receipt(["R-1", "--json"])).stdout)).toEqual(booked?.receipt);
  });

  test("is headed by the seller of the configuration", async () => {
    const configured = { COMPLIANCE_SELLERS: '{"biz_1": {"name": "Duka Moja Ltd", "pin": "P051000000A"}}' };
    const { stdout } = await receipt(["R-1"], DIALECT, configured);
    expect(stdout).toMatch(/^ +Duka Moja Ltd\n +PIN P051000000A\n +RECEIPT$/m);
  });

  test("--format pdf --out writes a PDF with the QR code of the signed address, and the ending is enough", async () => {
    const out = join(folder, "R-1.pdf");
    const asked = await receipt(["R-1", "--format", "pdf", "--out", out]);
    expect(asked).toEqual({ exitCode: 0, stdout: "", stderr: `Written to ${out}.\n` });
    const file = await readFile(out);
    const [page] = await readPdf(file);
    const [booked] = rig.simulator.documents("R-1");
    expect(page?.qr).toBe(verifyAt("R-1"));
    expect(page?.text).toMatch(/^Duka Moja Ltd\nPIN P051234567Z\nReceipt$/m);
    expect(page?.text).toContain(`CU invoice number ${signedNumber()}`);
    expect(page?.text).toContain(`Total ${booked?.totals.total.toFixed(2)}`);
    await receipt(["R-1", "--out", out]);
    expect(await readFile(out)).toEqual(file);
    await rm(out);
  });

  test("prints escpos and pdf into a pipe byte for byte, and not on a terminal", async () => {
    const printed = await bytesOf(["R-1", "--format", "escpos"]);
    expect(printed).toMatchObject({ exitCode: 0, stderr: "" });
    const { qr, lines } = readEscPos(printed.bytes);
    expect(qr).toBe(verifyAt("R-1"));
    expect(lines.join("\n")).toContain(signedNumber());
    const [page] = await readPdf((await bytesOf(["R-1", "--format", "pdf"])).bytes);
    expect(page?.qr).toBe(verifyAt("R-1"));
    const refused = await bytesOf(["R-1", "--format", "pdf"], true);
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("add --out FILE") });
    expect(refused.bytes).toHaveLength(0);
  });

  test("--format html prints a page with the QR code of the signed address", async () => {
    const { exitCode, stdout } = await receipt(["R-1", "--format", "html"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(signedNumber());
    expect(readSvgQr(stdout)).toBe(verifyAt("R-1"));
  });

  test("says that no seller is named where nobody has said who it is", async () => {
    const unnamed = await receipt(["R-1"], undefined, { COMPLIANCE_SELLERS: "" });
    expect(unnamed).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("set COMPLIANCE_SELLERS to have them"),
    });
    expect(unnamed.stdout).not.toContain("Duka Moja");
    expect((await receipt(["R-1"])).stdout).toContain("Duka Moja Ltd");
  });

  test("prints all lines of a sale with too many for an answer, out of the ledger", async () => {
    const lines = Array.from({ length: 300 }, (_, n) => ({ ...TEA, quantity: n + 1 }));
    const sale = { traderInvoiceNumber: "R-300", lines, stock: "off", refundWindow: "0" } as const;
    const { workflowId } = await rig.starter.startSale(sale);
    await rig.client.workflow.getHandle(workflowId).result();
    const { document } = await rig.starter.getSale({ invoice: "R-300" });
    expect(document).toMatchObject({ lines: [], linesLeftOut: { count: 300 } });
    const { exitCode, stdout, stderr } = await receipt(["R-300"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.match(/^ {2}\d+ x 350\.00 .* B$/gm)).toHaveLength(300);
    expect(stdout).toMatch(/^B 16%, taxable/m);
  });

  test("--format original writes the service's own file, and nothing beside it", async () => {
    const out = join(folder, "one.pdf");
    await writeFile(out, "of yesterday");
    const said = await receipt(["R-1", "--format", "original", "--out", out]);
    expect(said).toEqual({ exitCode: 0, stdout: "", stderr: `Written to ${out}.\n` });
    expect(await readFile(out, "utf8")).toContain(`% receipt ${signedNumber()}`);
    expect(await readdir(folder)).toEqual(["one.pdf"]);
  });

  test("an answer of the service that breaks off leaves no file", async () => {
    rig.simulator.inject({ operation: "receiptDownload", when: "after", kind: "half-body", times: 1 });
    const broken = await receipt(["R-1", "--format", "original", "--out", join(folder, "half.pdf")]);
    expect(broken).toMatchObject({ exitCode: 1, stdout: "" });
    expect(await readdir(folder)).not.toContain("half.pdf");
    expect((await readdir(folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("a content type that the service does not serve ends with 1 and the service's message", async () => {
    const png = { receiptDownload: { ...DIALECT.receiptDownload, accept: "image/png" } };
    const refused = await receipt(["R-1", "--format", "original", "--out", join(folder, "three.png")], png);
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toContain("served as application/pdf only");
  });

  test("--format original without the dialect's operation is a wrong configuration, and the message says what to set", async () => {
    const off = await receipt(["R-1", "--format", "original"], {});
    expect(off).toMatchObject({ exitCode: 2, stdout: "" });
    expect(off.stderr).toContain("receiptDownload is off");
    expect(off.stderr).toContain(`COMPLIANCE_DIALECT: {"receiptDownload":{"method":"GET","path":"/v1/sales/{id}/…"`);
  });

  test("a sale that is not signed yet is printed as provisional, and that is said", async () => {
    const shown = await receipt(["R-2"]);
    expect(shown).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("what is printed is provisional") });
    expect(shown.stdout).toMatch(/^\*+ PROVISIONAL \*+\n\*+ NOT A TAX RECEIPT \*+$/m);
    expect(shown.stdout).not.toContain("Signature");
    const [page] = await readPdf((await bytesOf(["R-2", "--format", "pdf"])).bytes);
    expect(page).toMatchObject({ text: expect.stringContaining("NOT A TAX RECEIPT"), qr: undefined });
    expect((await receipt(["R-2", "--format", "html"])).stdout).toContain('<body class="provisional">');
  });

  test("a sale that was cancelled after its rejection is printed as cancelled", async () => {
    rig.simulator.setAuthority("R-GONE", [{ do: "reject", reason: "no connection" }]);
    await rig.starter.startSale({ traderInvoiceNumber: "R-GONE", lines: [TEA] });
    await rig.stateWhen("R-GONE", ({ attentions }) => attentions.some(({ code }) => code === "rejected"));
    await rig.starter.cancel({ invoice: "R-GONE" }, { reason: "test over" });
    await rig.stateWhen("R-GONE", ({ stage }) => stage === "cancelled");
    const shown = await receipt(["R-GONE"]);
    expect(shown).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("is cancelled, and not signed") });
    expect(shown.stdout.replaceAll(/\s+/g, " ")).toContain("This document was cancelled, and is not valid");
  });

  test("a sale that was cancelled has no receipt, and is not said to have none yet", async () => {
    const none = await receipt(["R-GONE", "--json"]);
    expect(none).toMatchObject({ exitCode: 1, stdout: "" });
    expect(none.stderr).toBe(
      "The sale R-GONE has no receipt, and gets none: it is cancelled. See: fiscalflow sale show R-GONE\n",
    );
  });

  test("the command that shows a sale without a receipt names its business", async () => {
    const input = { traderInvoiceNumber: "R-NOBODY", lines: [TEA], businessId: "biz_nobody" };
    await rig.starter.startSale(input);
    const sale = { invoice: "R-NOBODY", businessId: "biz_nobody" };
    await expect.poll(async () => (await rig.starter.getSale(sale)).attentions).toHaveLength(1);
    const none = await receipt(["R-NOBODY", "--business", "biz_nobody"]);
    expect(none.stderr).toMatch(/has no receipt yet: .*See: fiscalflow sale show R-NOBODY --business biz_nobody$/m);
    await rig.starter.cancel(sale, { reason: "test over" });
  });

  test("a sale that is not signed yet has no signed values and no file of the service", async () => {
    for (const argv of [
      ["R-2", "--json"],
      ["R-2", "--format", "original", "--out", join(folder, "four.pdf")],
    ]) {
      const none = await receipt(argv);
      expect(none).toMatchObject({ exitCode: 1, stdout: "" });
      expect(none.stderr).toContain("The sale R-2 has no receipt yet");
    }
  });

  test("--credit-note shows what was signed for a credit note that was issued after the refund window", async () => {
    const none = await receipt(["R-1", "--credit-note"]);
    expect(none).toMatchObject({ exitCode: 1, stdout: "" });
    expect(none.stderr).toMatch(
      /R-1 has no credit note\. If R-1 is also the number of another sale's credit note: fiscalflow receipt '<its sale>' --credit-note$/m,
    );
    const request = { reason: "06", traderInvoiceNumber: "CN-R-1" } as const;
    const noteNumber = () => rig.simulator.documents("CN-R-1")[0]?.receipt?.cuInvoiceNo ?? "no number";
    rig.simulator.setAuthority("CN-R-1", [{ do: "down" }]);
    await rig.starter.refund({ invoice: "R-1" }, request);
    const inFlight = await receipt(["R-1", "--credit-note", "--json"]);
    expect(inFlight).toMatchObject({ exitCode: 1, stdout: "" });
    expect(inFlight.stderr).toContain("The credit note of the sale R-1 has no receipt yet");
    rig.simulator.setAuthority("CN-R-1", [{ do: "accept" }]);
    await rig.starter.refund({ invoice: "R-1" }, request, { waitSeconds: 20 });
    const shown = await receipt(["R-1", "--credit-note"]);
    expect(shown).toMatchObject({ exitCode: 0, stderr: "" });
    expect(shown.stdout).toMatch(new RegExp(`^CU invoice number +${noteNumber()}$`, "m"));
    expect(shown.stdout).toMatch(new RegExp(`^Reverses receipt +${signedNumber()}$`, "m"));
    expect(shown.stdout).toMatch(/^Reverses sale +R-1 of \d{4}-\d\d-\d\d$/m);
    expect(shown.stdout).toMatch(/^Reason +refund \(06\)$/m);
    expect(shown.stdout.replaceAll(/\s+/g, " ")).toContain("Seller and reason: as stated by the shop, not signed.");
    expect(shown.stdout).toMatch(/^TOTAL +-\d/m);
    const [page] = await readPdf((await bytesOf(["R-1", "--credit-note", "--format", "pdf"])).bytes);
    expect(page?.qr).toBe(verifyAt("CN-R-1"));
    expect(page?.text).toContain(`Reverses receipt ${signedNumber()}`);
    const inLedger = { connection: "default", businessId: "biz_1" };
    await expect.poll(() => rig.ledger.documents.saleOfCreditNote(inLedger, "CN-R-1")).toBe("R-1");
    expect(await receipt(["CN-R-1"])).toEqual(shown);
    expect(JSON.parse((await receipt(["CN-R-1", "--json"])).stdout)).toMatchObject({ cuInvoiceNo: noteNumber() });
    const unknown = await receipt(["CN-R-404"]);
    expect(unknown).toMatchObject({ exitCode: 1, stdout: "" });
    expect(unknown.stderr).toContain("the ledger has no sale of that number");
    await expect(rig.starter.getSale({ invoice: "CN-R-1" })).rejects.toMatchObject({
      code: "NotFound",
      creditNoteOf: "R-1",
      message: "CN-R-1 is the number of a credit note, of the sale R-1. Give the sale's number.",
    });

    const workflowId = rig.starter.workflowId({ invoice: "R-1" });
    await rig.client.workflow.getHandle(workflowId).result();
    await forgetWorkflow(rig, workflowId);
    expect(await receipt(["R-1", "--credit-note"])).toEqual(shown);
  });

  test("shows what the ledger keeps of a sale whose workflow Temporal has deleted", async () => {
    const sale = { traderInvoiceNumber: "R-3", lines: [TEA], refundWindow: "0" };
    const { workflowId } = await rig.starter.startSaleAndWait(sale, { waitSeconds: 20 });
    await rig.client.workflow.getHandle(workflowId).result();
    const before = await receipt(["R-3"]);
    expect(before).toMatchObject({ exitCode: 0, stderr: "" });
    await forgetWorkflow(rig, workflowId);
    expect(await receipt(["R-3"])).toEqual(before);
  });

  test.each([
    [["R-1", "--json", "--format", "pdf"], "cannot be used with option '--json'"],
    [["R-1", "--format", "docx"], "Allowed choices are text, escpos, html, pdf, original, json"],
    [
      ["R-1", "--out", "x.docx"],
      "No format has the ending .docx. Add --format: text, escpos, html, pdf, original, json.",
    ],
    [["R-1", "--out", "/no/such/folder/x"], "cannot be written (ENOENT)"],
    [["R-1", "--format", "original", "--out", "/no/such/folder/x"], "cannot be written (ENOENT)"],
  ])("%j is a wrong call", async (argv, message) => {
    const { exitCode, stderr } = await receipt(argv);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
