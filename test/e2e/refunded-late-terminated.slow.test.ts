import { afterAll, beforeAll, expect, test } from "vitest";

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

  const kept = (invoice: string) => rig.ledger.documents.findSale(BUSINESS, invoice);

  test("that was terminated in its refund window has nothing left to do, and is credited without a restart", async () => {
    const invoice = "LATE-4";
    await sold(invoice);
    await expect.poll(async () => (await kept(invoice))?.record.stage).toBe("completed");
    await handleOf(invoice).terminate("by mistake");
    const nothing = "nothing is left to do, and a refund works without a restart";
    const page = async (): Promise<string> => (await fiscalflow("sale", "show", invoice)).stdout;
    expect(await page()).toContain(nothing);
    expect(await page()).not.toContain("sale restart");
    expect(await listedAs(invoice)).toMatchObject([{ stage: "completed", status: "completed", waitsFor: "nothing" }]);
    expect(await listedAs(invoice, "--ended")).toEqual([]);
    expect(await shown(invoice)).toMatchObject({ closed: { status: "terminated", settled: true } });
    const retry = () => rig.starter.retry({ invoice });
    await expect(retry()).rejects.toMatchObject({
      message: expect.stringMatching(
        /was terminated \("by mistake".*: no update reaches it, and nothing is left to do in it\. It is completed\. Allowed: a refund\.$/,
      ),
      allowed: ["refund"],
    });
    const query = `FiscalInvoice = "${invoice}"`;
    const many = await fiscalflow("sale", "restart", "--query", query, "--note", "all");
    expect(many.stdout).toContain("0 found");

    const refund = ["--reason", "06", "--number", "CN-LATE-4", "--wait"];
    expect((await fiscalflow("sale", "refund", invoice, ...refund)).stdout).toContain("credited in full");
    const note = { traderInvoiceNumber: "CN-LATE-4", status: "completed" };
    const credited = { stage: "credited", creditNote: note };
    expect(await result(invoice)).toMatchObject(credited);
    expect(await rig.starter.outcome({ invoice })).toMatchObject(credited);
    expect(await shown(invoice)).toMatchObject(credited);
    expect(await page()).toMatch(/Stage {9}credited\n(.*\n)* {2}Credit note {3}\S+ CN-LATE-4, completed/);
    expect(await page()).not.toContain("sale restart");
    await expect(retry()).rejects.toMatchObject({
      message: expect.stringMatching(/It is credited by CN-LATE-4: nothing is left to do\.$/),
      allowed: [],
    });
    const common = { stage: "credited", status: "completed", waitsFor: "nothing", creditNote: "CN-LATE-4" };
    await expect.poll(() => listedAs(invoice)).toMatchObject([common]);
    for (const flag of ["--ended", "--attention"]) expect(await listedAs(invoice, flag)).toEqual([]);
  });

  test("that was terminated while it was credited late shows that, and the same refund carries it on", async () => {
    const invoice = "LATE-2";
    await start(invoice);
    await result(invoice);
    rig.simulator.setAuthority("CN-LATE-2", [{ do: "down" }]);
    const refund = { reason: "06", traderInvoiceNumber: "CN-LATE-2" } as const;
    await rig.starter.refund({ invoice }, refund);
    await expect.poll(() => rig.simulator.documents("CN-LATE-2")).toHaveLength(1);
    await handleOf(invoice).terminate("by mistake");
    expect(await rig.starter.getSale({ invoice })).toMatchObject({
      stage: "crediting",
      closed: { status: "terminated" },
      waitingFor: expect.stringMatching(/^nothing: its workflow was terminated .*until it is restarted$/),
    });
    for (const flags of [[], ["--ended"]])
      await expect
        .poll(() => listedAs(invoice, ...flags), { message: flags.join(" ") })
        .toMatchObject([{ stage: "crediting", status: "terminated", creditNote: "CN-LATE-2" }]);
    expect((await fiscalflow("sale", "show", invoice)).stdout).toMatch(/^ {4}fiscalflow sale restart LATE-2 /m);
    rig.simulator.setAuthority("CN-LATE-2", [{ do: "accept" }]);
    const other = { ...refund, traderInvoiceNumber: "CN-OTHER" };
    await expect(rig.starter.refund({ invoice }, other)).rejects.toMatchObject({ code: "Conflict" });
    expect(await rig.starter.refund({ invoice }, refund, { waitSeconds: 20 })).toMatchObject({ stage: "credited" });
    expect(await result(invoice)).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    expect(rig.simulator.documents("CN-LATE-2")).toHaveLength(1);
    expect(rig.simulator.documents("CN-OTHER")).toHaveLength(0);
  });
});
