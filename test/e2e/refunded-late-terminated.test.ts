import { afterAll, beforeAll, expect, test } from "vitest";

import { creditNoteWorkflowId } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";

describeWithTemporal("a closed sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start, sold, result, handleOf } = salesOf(() => rig);
  const { fiscalflow, listedAs, shown } = viewsOf(() => rig);

  const kept = (invoice: string) => rig.ledger.records.findSale(BUSINESS, invoice);

  test("that was terminated in its refund window has nothing left to do, and is credited without a restart", async () => {
    const invoice = "LATE-4";
    await sold(invoice);
    await expect.poll(async () => (await kept(invoice))?.record.stage).toBe("completed");
    await handleOf(invoice).terminate("by mistake");
    const nothing = "nothing is left to do, and a refund works without a restart";
    const page = async (): Promise<string> => (await fiscalflow("sale", "show", invoice)).stdout;
    expect(await page()).toContain(nothing);
    expect(await page()).not.toContain("sale restart");
    await expect.poll(() => listedAs(invoice, "--ended")).toMatchObject([{ stage: "completed", waitsFor: "nothing" }]);
    expect(await shown(invoice)).toMatchObject({ closed: { status: "terminated", settled: true } });
    const retry = () => rig.starter.retry({ invoice });
    await expect(retry()).rejects.toMatchObject({
      message: expect.stringMatching(
        /was terminated \("by mistake".*: no update reaches it, and nothing is left to do in it\. It is completed\. Allowed: a refund\.$/,
      ),
      allowed: ["refund"],
    });
    expect((await fiscalflow("sale", "retry", invoice)).stderr).toMatch(
      /Allowed: a refund\.\n +fiscalflow sale refund LATE-4 /,
    );
    const query = `FiscalInvoice = "${invoice}"`;
    const many = await fiscalflow("sale", "restart", "--query", query, "--note", "all", "--dry-run");
    expect(many.stdout).toContain("0 found");

    const refund = ["--reason", "06", "--number", "CN-LATE-4", "--wait"];
    expect((await fiscalflow("sale", "refund", invoice, ...refund)).stdout).toContain("credited in full");
    const closed = { status: "terminated" };
    const credited = {
      stage: "credited",
      closed,
      creditNote: { traderInvoiceNumber: "CN-LATE-4", status: "completed" },
    };
    expect(await rig.starter.outcome({ invoice })).toMatchObject(credited);
    expect(await shown(invoice)).toMatchObject(credited);
    expect(await page()).toMatch(
      /Stage {9}credited \(terminated\)\n(.*\n)* {2}Credit note {3}\S+ CN-LATE-4, completed/,
    );
    expect(await page()).not.toContain("sale restart");
    await expect(retry()).rejects.toMatchObject({
      message: expect.stringMatching(
        /nothing is left to do in it\. It is credited by CN-LATE-4: nothing is left to do\.$/,
      ),
      allowed: [],
    });
    const common = { stage: "credited", status: "terminated", waitsFor: "nothing", creditNote: "CN-LATE-4" };
    for (const flags of [[], ["--ended"], ["--stage", "credited"], ["--ended", "--stage", "credited"]])
      await expect.poll(() => listedAs(invoice, ...flags), { message: flags.join(" ") }).toMatchObject([common]);
    for (const flags of [["--attention"], ["--stage", "completed"]])
      expect(await listedAs(invoice, ...flags)).toEqual([]);
  });

  test("whose credit note was terminated shows that, and how to restart the credit note", async () => {
    await start("LATE-2");
    const done = await result("LATE-2");
    rig.simulator.setAuthority("CN-LATE-2", [{ do: "down" }]);
    await rig.starter.refund({ invoice: "LATE-2" }, { reason: "06", traderInvoiceNumber: "CN-LATE-2" });
    const noteId = creditNoteWorkflowId({ ...BUSINESS, saleId: done.sale?.id ?? "" });
    await expect.poll(() => rig.simulator.documents("CN-LATE-2")).toHaveLength(1);
    await rig.client.workflow.getHandle(noteId).terminate("by mistake");
    expect(await shown("LATE-2")).toMatchObject({ creditNoteState: { closed: { status: "terminated" } } });
    expect(await rig.starter.getSale({ invoice: "LATE-2" })).toMatchObject({
      stage: "crediting",
      waitingFor: expect.stringMatching(
        /^nothing: the workflow of its credit note CN-LATE-2 was terminated \("by mistake".*\); nobody carries it on until it is restarted$/,
      ),
    });
    const row = { stage: "crediting", status: "completed", creditNote: "CN-LATE-2" };
    for (const flags of [[], ["--stage", "crediting"]])
      await expect
        .poll(() => listedAs("LATE-2", ...flags), { message: flags.join(" ") })
        .toMatchObject([{ ...row, waitsFor: "a restart of its credit note" }]);
    expect(await listedAs("LATE-2", "--stage", "completed")).toEqual([]);
    const page = (await fiscalflow("sale", "show", "LATE-2")).stdout;
    const [, command = ""] = /^ {4}fiscalflow (sale restart LATE-2 .*)$/m.exec(page) ?? [];
    expect(command).toBe("sale restart LATE-2 --note '<why>' --credit-note");
    rig.simulator.setAuthority("CN-LATE-2", [{ do: "accept" }]);
    const said = await fiscalflow("sale", "restart", "LATE-2", "--note", "a slip", "--credit-note");
    expect(said).toMatchObject({ exitCode: 0, stderr: "" });
    await rig.client.workflow.getHandle(noteId).result();
    expect(await shown("LATE-2")).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    expect(rig.simulator.documents("CN-LATE-2")).toHaveLength(1);
  });
});
