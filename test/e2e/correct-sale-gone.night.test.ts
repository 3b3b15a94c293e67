import { afterAll, beforeAll, expect, test } from "vitest";

import { correctionsOf } from "../rig/corrections-of.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

describeWithTemporal("a correction whose sale is terminated", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());

  const corrections = correctionsOf(() => rig);
  const { sold, correct, begin, crediting, preparing, when, documentsOf, movedFor, isCorrectedOnce } = corrections;
  const { onHand, handleOf } = salesOf(() => rig);

  test("while it is checked is carried out by the restarted sale, as it was asked for", async () => {
    const name = "CHECKED-1";
    await sold(name);
    const serveAgain = await preparing(name);
    const reserved = async () => (await rig.ledger.documents.findSale(BUSINESS, `${name}-NEW`))?.record.replaces;
    await expect.poll(reserved).toBe(name);
    await handleOf(name).terminate("by mistake");
    serveAgain();
    await rig.starter.restart({ invoice: name }, { note: "a slip" });
    await when(name, ({ stage }) => stage === "corrected");
    expect(documentsOf(name)).toHaveLength(3);
  });

  test("while its credit note is under way is carried on by the next caller who asks for it, and its goods go back once", async () => {
    const before = onHand();
    const name = "HALF-1";
    await crediting(name, "1 hour");
    await handleOf(name).terminate("by mistake");
    rig.simulator.setAuthority(`CN-${name}`, [{ do: "accept" }]);
    expect(await correct(name)).toMatchObject({ stage: "corrected" });
    await isCorrectedOnce(name, before);
  });

  test("once its credit note is signed, and forgotten by Temporal, is carried on from the ledger alone", async () => {
    const before = onHand();
    const name = "SIGNED-1";
    await sold(name);
    // A worker that begins knows no branch, and looks where the goods go back to.
    await rig.stopWorkers();
    await rig.startWorkers();
    const away = { operation: "listBusinesses", when: "before", kind: "status", status: 503 } as const;
    const serveAgain = rig.simulator.inject(away);
    await begin(name);
    await when(name, ({ stage }) => stage === "issuing");
    const told = async () => (await rig.ledger.documents.findSale(BUSINESS, name))?.record.correction?.stage;
    await expect.poll(told).toBe("issuing");
    await handleOf(name).terminate("by mistake");
    expect(movedFor(name)).toEqual([["DEDUCT", 2]]);
    await forgetWorkflow(rig, handleOf(name).workflowId);
    serveAgain();
    await rig.starter.startSale({ traderInvoiceNumber: name, lines: [TEA] });
    await isCorrectedOnce(name, before);
  });
});
