import { afterAll, beforeAll, expect, test } from "vitest";

import { correctionsOf } from "../rig/corrections-of.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/** Nothing stood against these when they began: what is in their way came later. */
describeWithTemporal("a correction that is under way", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());

  const corrections = correctionsOf(() => rig);
  const { sold, request, correct, begin, crediting, when, attentionOf, documentsOf, isCorrectedOnce } = corrections;
  const { idOf, documentIdOf, preparing, completeItem } = corrections;
  const { onHand, handleOf } = salesOf(() => rig);

  test("whose sale is terminated as it is credited needs an operator, whose retry carries the credit note on", async () => {
    const before = onHand();
    const name = "STOPPED-1";
    await crediting(name);
    await handleOf(name).terminate("by mistake");
    expect(await attentionOf(name)).toMatchObject({
      code: "correction-incomplete",
      subject: `CN-${name}`,
      message: `The workflow of the sale ${name} has stopped: by mistake. A retry starts it again.`,
      resolvedBy: ["retry"],
    });
    rig.simulator.setAuthority(`CN-${name}`, [{ do: "accept" }]);
    await rig.starter.retry({ workflowId: idOf(name) }, { note: "it goes on" });
    await isCorrectedOnce(name, before);
  });

  test("whose credit note is given up after the sale was closed ends with nothing done, and leaves the sale free", async () => {
    const name = "GIVEN-UP-1";
    await crediting(name);
    rig.simulator.setAuthority(`CN-${name}`, [{ do: "reject", reason: "no" }]);
    await when(name, ({ heldUp }) => heldUp?.what === "credit-note" && heldUp.code === "rejected");
    await rig.starter.cancel({ invoice: name }, { reason: "typed by mistake" });
    const { heldUp, message } = await when(name, ({ stage }) => stage === "cancelled");
    expect({ heldUp, message }).toEqual({
      message: `The credit note CN-${name} was given up, so nothing was corrected.`,
    });
    const again = await correct(name, { ...request(name), creditNote: `CN-${name}-2` });
    expect(again).toMatchObject({ stage: "corrected" });
  });

  test("whose credit note's number is taken meanwhile ends with nothing done once that is acknowledged, and leaves the sale free", async () => {
    const name = "TAKEN-1";
    await sold(name, { refundWindow: "0" });
    await sold("OTHER-1");
    const asked = await preparing(name);
    const refund = { reason: "06", traderInvoiceNumber: `CN-${name}` } as const;
    await rig.starter.refund({ invoice: "OTHER-1" }, refund, { waitSeconds: 20 });
    completeItem();
    await when(name, ({ heldUp }) => heldUp?.what === "credit-note" && heldUp.code === "unexpected-answer");
    const { attentions } = await rig.starter.getSale({ invoice: name });
    expect(attentions).toMatchObject([
      {
        subject: `CN-${name}`,
        message: expect.stringContaining(`CN-${name} belongs to the credit note of another sale: OTHER-1 `),
      },
    ]);
    const seen = { code: "unexpected-answer", note: "another number then" } as const;
    await rig.starter.acknowledge({ invoice: name }, seen);
    const { heldUp, message } = await when(name, ({ stage }) => stage === "cancelled");
    expect({ heldUp, message }).toEqual({
      message: `The credit note CN-${name} was given up, so nothing was corrected.`,
    });
    expect(rig.simulator.documents(`${name}-NEW`)).toEqual([]);
    const again = await correct(name, { ...asked, creditNote: `CN-${name}-2` });
    expect(again).toMatchObject({ stage: "corrected" });
  });

  test("of a sale that somebody else credits ends credited, without a corrected sale, once that is acknowledged", async () => {
    const name = "FOREIGN-1";
    await sold(name, { refundWindow: "0" });
    const note = { traderInvoiceNumber: "CN-ELSEWHERE", returnDate: "2026-11-21", reason: "06" };
    await fetch(`${rig.simulator.url}/v1/credit-notes?businessId=biz_1`, {
      method: "POST",
      headers: { "x-api-key": "cmp_sk_test_simulator", "content-type": "application/json" },
      body: JSON.stringify({ ...note, saleId: documentIdOf(name) }),
    });
    await begin(name);
    await when(name, ({ heldUp }) => heldUp?.code === "already-credited");
    const seen = { code: "already-credited", note: "the back office did it" } as const;
    await rig.starter.acknowledge({ invoice: name }, seen);
    expect(await attentionOf(name)).toMatchObject({ code: "correction-incomplete", subject: `CN-${name}` });
    const accepted = { code: "correction-incomplete", note: "nothing is to follow" } as const;
    await rig.starter.acknowledge({ workflowId: idOf(name) }, accepted);
    expect(await when(name, ({ stage }) => stage === "credited")).toMatchObject({
      waitingFor: "nothing",
      message: `The sale ${name} was credited by CN-ELSEWHERE, not by CN-${name}.`,
    });
    expect(documentsOf(name)).toEqual([["sale", "completed", name, 700]]);
  });

  test("whose corrected sale's number is taken meanwhile leaves that sale alone, and needs another number", async () => {
    const name = "NUMBER-1";
    await crediting(name);
    await sold(`${name}-NEW`);
    rig.simulator.setAuthority(`CN-${name}`, [{ do: "accept" }]);
    expect(await attentionOf(name)).toMatchObject({
      code: "correction-incomplete",
      subject: `${name}-NEW`,
      message: expect.stringContaining("not issued: the number belongs to a sale with other content. To acknowledge"),
      resolvedBy: ["acknowledge"],
    });
    const accepted = { code: "correction-incomplete", note: "the number was the till's" } as const;
    await rig.starter.acknowledge({ workflowId: idOf(name) }, accepted);
    expect(await when(name, ({ stage }) => stage === "credited")).toMatchObject({
      message: "No corrected sale was issued: the number was the till's",
    });
    const again = await correct(name, request(name, { traderInvoiceNumber: `${name}-2` }));
    expect(again).toMatchObject({ stage: "corrected", correctedBy: `${name}-2` });
  });

  test("whose corrected sale is terminated needs an operator, whose retry carries that sale on", async () => {
    const before = onHand();
    const name = "ENDED-1";
    await sold(name);
    rig.simulator.setAuthority(`${name}-NEW`, [{ do: "down" }]);
    await begin(name);
    await rig.simulator.until(() => documentsOf(name).length === 3);
    await when(name, ({ stage }) => stage === "issuing");
    await handleOf(`${name}-NEW`).terminate("by mistake");
    expect(await attentionOf(name)).toMatchObject({
      code: "correction-incomplete",
      subject: `${name}-NEW`,
      message: expect.stringMatching(/not issued: its workflow has stopped \(.+\)\. A retry starts it again\./),
      resolvedBy: ["retry", "acknowledge"],
    });
    rig.simulator.setAuthority(`${name}-NEW`, [{ do: "accept" }]);
    await rig.starter.retry({ workflowId: idOf(name) }, { note: "it goes on" });
    await isCorrectedOnce(name, before);
  });
});
