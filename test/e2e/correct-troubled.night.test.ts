import { afterAll, beforeAll, expect, test } from "vitest";

import { correctionsOf } from "../rig/corrections-of.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
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
  const { documentIdOf, preparing } = corrections;
  const { onHand, handleOf } = salesOf(() => rig);

  test("whose sale is terminated as it is credited goes on once that sale is restarted", async () => {
    const before = onHand();
    const name = "STOPPED-1";
    await crediting(name);
    await handleOf(name).terminate("by mistake");
    rig.simulator.setAuthority(`CN-${name}`, [{ do: "accept" }]);
    await rig.starter.restart({ invoice: name }, { note: "it goes on" });
    expect(await when(name, ({ stage }) => stage === "corrected")).toMatchObject({ attentions: [] });
    await isCorrectedOnce(name, before);
  });

  test("whose credit note is given up after the sale was closed ends with nothing done, and leaves the sale free", async () => {
    const name = "GIVEN-UP-1";
    await crediting(name);
    rig.simulator.setAuthority(`CN-${name}`, [{ do: "reject", reason: "no" }]);
    await when(name, ({ attentions }) => attentions[0]?.code === "rejected");
    await rig.starter.cancel({ invoice: name }, { reason: "typed by mistake" });
    await when(name, ({ stage }) => stage === "cancelled");
    const again = await correct(name, { ...request(name), traderInvoiceNumber: `CN-${name}-2` });
    expect(again).toMatchObject({ stage: "corrected" });
  });

  test("whose credit note's number is taken meanwhile ends with nothing done, and leaves the sale free", async () => {
    const name = "TAKEN-1";
    await sold(name, { refundWindow: "0" });
    await sold("OTHER-1");
    const serveAgain = await preparing(name);
    const refund = { reason: "06", traderInvoiceNumber: `CN-${name}` } as const;
    await rig.starter.refund({ invoice: "OTHER-1" }, refund, { waitSeconds: 20 });
    serveAgain();
    await when(name, ({ stage }) => stage === "cancelled");
    expect(rig.simulator.documents(`${name}-NEW`)).toEqual([]);
    const again = await correct(name, { ...request(name), traderInvoiceNumber: `CN-${name}-2` });
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
    await when(name, ({ attentions }) => attentions[0]?.code === "already-credited");
    const seen = { code: "already-credited", note: "the back office did it" } as const;
    await rig.starter.acknowledge({ invoice: name }, seen);
    await when(name, ({ attentions }) => attentions[0]?.code === "correction-incomplete");
    const accepted = { code: "correction-incomplete", note: "nothing is to follow" } as const;
    await rig.starter.acknowledge({ invoice: name }, accepted);
    await when(name, ({ stage }) => stage === "credited");
    expect(documentsOf(name)).toEqual([["sale", "completed", name, 700]]);
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
    await rig.starter.retry({ invoice: name }, { note: "it goes on" });
    await isCorrectedOnce(name, before);
  });

  test("whose sale is reset does nothing twice", async () => {
    const before = onHand();
    const name = "RESET-1";
    await sold(name, { refundWindow: "0" });
    expect(await correct(name)).toMatchObject({ stage: "corrected" });
    await isCorrectedOnce(name, before);
    for (const activity of ["reserveReplacement", "awaitReplacement"]) {
      await resetRun(rig.client, rig.namespace, handleOf(name).workflowId, { activity });
      await isCorrectedOnce(name, before);
    }
  });

  test("whose sale is reset issues no corrected sale that was given up before, under the same credit note", async () => {
    const before = onHand();
    const name = "TWO-1";
    await sold(name);
    const id = "item_of_the_correction";
    rig.simulator.addItem({ id, businessId: "biz_1", name: "New", unitPrice: 1, registrationStatus: "PENDING" });
    const away = { operation: "registerItem", when: "before", kind: "status", status: 503 } as const;
    const serveAgain = rig.simulator.inject(away);
    const lines = [{ itemId: id, quantity: 1, unitPrice: 1050 }];
    await begin(name, request(name, { traderInvoiceNumber: `${name}-OLD`, lines }));
    await when(name, ({ stage }) => stage === "preparing");
    await rig.starter.cancel({ invoice: name }, { reason: "the wrong sale" });
    await when(name, ({ stage }) => stage === "cancelled");
    serveAgain();
    await correct(name);
    await isCorrectedOnce(name, before);
    await resetRun(rig.client, rig.namespace, handleOf(name).workflowId, { activity: "openCreditNote" });
    await isCorrectedOnce(name, before);
    expect(rig.simulator.documents(`${name}-OLD`)).toEqual([]);
  });

  test("whose sale is reset is not given up by the wish to give up the one before, under the same credit note", async () => {
    const before = onHand();
    const name = "TWO-2";
    await sold(name);
    const serveAgain = await preparing(name);
    await rig.starter.cancel({ invoice: name }, { reason: "the wrong sale" });
    await when(name, ({ stage }) => stage === "cancelled");
    serveAgain();
    rig.simulator.setAuthority(`CN-${name}`, [{ do: "down" }]);
    await begin(name);
    await rig.simulator.until(() => documentsOf(name).length === 2);
    await resetRun(rig.client, rig.namespace, handleOf(name).workflowId, { activity: "openCreditNote" });
    await when(name, ({ stage }) => stage === "crediting");
    rig.simulator.setAuthority(`CN-${name}`, [{ do: "reject", reason: "no" }]);
    expect(await attentionOf(name)).toMatchObject({ code: "rejected" });
    rig.simulator.setAuthority(`CN-${name}`, [{ do: "accept" }]);
    await rig.starter.retry({ invoice: name });
    await isCorrectedOnce(name, before);
  });
});
