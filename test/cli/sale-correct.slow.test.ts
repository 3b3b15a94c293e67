import { afterAll, beforeAll, expect, test } from "vitest";

import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { commandEnv } from "../rig/command-env.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("fiscalflow sale correct", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig.close());

  function sale(argv: string[], input?: unknown): Promise<CliResult> {
    return callCli(["sale", ...argv], {
      env: commandEnv(rig),
      ...(input !== undefined && { stdin: JSON.stringify(input) }),
    });
  }

  const words = (invoice: string) => ["correct", invoice, "-", "--reason", "06", "--number", `CN-${invoice}`];
  const corrected = (invoice: string) => ({ traderInvoiceNumber: `${invoice}-NEW`, lines: [{ ...TEA, quantity: 1 }] });

  async function sold(traderInvoiceNumber: string): Promise<void> {
    await rig.starter.startSaleAndWait({ traderInvoiceNumber, lines: [TEA] }, { waitSeconds: 20 });
  }

  test("prints both documents, also when repeated, and `show` shows it for both sales", async () => {
    await sold("C-1");
    const first = await sale([...words("C-1"), "--wait", "20"], corrected("C-1"));
    expect(first).toMatchObject({ exitCode: 0, stderr: "" });
    const [note] = rig.simulator.documents("CN-C-1");
    const [again] = rig.simulator.documents("C-1-NEW");
    const lines = first.stdout.split("\n");
    expect(lines[0]).toBe("Correction of C-1 by C-1-NEW, with the credit note CN-C-1: corrected");
    expect(lines[1]).toBe(
      `  Credit note CN-C-1, total ${note?.totals.total.toFixed(2)} (tax ${note?.totals.taxAmount.toFixed(2)})`,
    );
    expect(lines[2]).toMatch(new RegExp(`^ {4}${note?.receipt?.cuInvoiceNo}, NC \\d+, `));
    expect(first.stdout).toContain(`\n  Corrected sale C-1-NEW, total ${again?.totals.total.toFixed(2)} (tax `);
    expect(first.stdout).toContain(`\n    ${again?.receipt?.cuInvoiceNo}, NS `);
    expect(note?.totals.total).toBeLessThan(0);
    const documents = {
      creditNote: { number: "CN-C-1", total: note?.totals.total, receipt: { cuInvoiceNo: note?.receipt?.cuInvoiceNo } },
      correctedSale: {
        number: "C-1-NEW",
        total: again?.totals.total,
        receipt: { cuInvoiceNo: again?.receipt?.cuInvoiceNo },
      },
    };
    const json = await sale([...words("C-1"), "--json"], corrected("C-1"));
    expect(JSON.parse(json.stdout)).toMatchObject({ stage: "corrected", invoice: "C-1", documents });
    // Beside the number of the original, a receipt would be taken for its own.
    expect(JSON.parse(json.stdout)).not.toHaveProperty("receipt");
    const shown = JSON.parse((await sale(["show", "C-1", "--json"])).stdout);
    expect(shown.correction).toMatchObject({ stage: "corrected", documents });
    expect(shown.correction).not.toHaveProperty("receipt");
    expect((await sale(["show", "C-1"])).stdout).toContain(first.stdout.trimEnd());
    expect(await sale(words("C-1"), corrected("C-1"))).toMatchObject({ exitCode: 0, stdout: first.stdout });
    expect((await sale(["show", "C-1"])).stdout).toContain("Correction of C-1 by C-1-NEW");
    expect((await sale(["show", "C-1-NEW"])).stdout).toContain("Corrects C-1");
  });

  test("of an unknown sale says so, and of a wrong file names each wrong field", async () => {
    const absent = await sale(words("C-0"), corrected("C-0"));
    expect(absent).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("the ledger has no sale of that number"),
    });
    const wrong = await sale(words("C-1"), { traderInvoiceNumber: "C-1" });
    expect(wrong).toMatchObject({ exitCode: 2, stdout: "" });
    expect(wrong.stderr).toContain("replaceWith.lines: expected a list of lines");
    const ownNumber = { ...corrected("C-1"), traderInvoiceNumber: "C-1" };
    expect((await sale(words("C-1"), ownNumber)).stderr).toContain(
      "replaceWith.traderInvoiceNumber: expected another number",
    );
  });

  test("whose corrected sale was given up is listed, and the commands that it prints resolve it", async () => {
    await sold("C-2");
    rig.simulator.setAuthority("C-2-NEW", [{ do: "reject", reason: "no" }]);
    await sale(words("C-2"), corrected("C-2"));
    await expect
      .poll(async () => (await sale(["show", "C-2"])).stdout)
      .toMatch(/corrected sale C-2-NEW needs an operator: rejected/);
    await sale(["cancel", "C-2-NEW", "--reason", "a wrong PIN"]);
    await expect.poll(async () => (await sale(["list", "--attention"])).stdout).toMatch(/C-2 .*correction-incomplete/);
    const { exitCode, stdout } = await sale(words("C-2"), corrected("C-2"));
    expect(exitCode).toBe(1);
    const command =
      /fiscalflow sale (acknowledge C-2 .*)/.exec(stdout)?.[1]?.replace("'<how you know>'", "known") ?? "";
    expect(await sale(command.split(" "))).toMatchObject({ exitCode: 0, stderr: "" });
    await expect
      .poll(async () => (await sale(["show", "C-2"])).stdout)
      .toMatch(/with the credit note CN-C-2: credited\n {2}No corrected sale was issued\./);
  });
});
