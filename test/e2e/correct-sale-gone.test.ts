import { Client, Connection } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";

import { openOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { asOwner } from "../rig/fresh-database.ts";
import { correctionsOf } from "../rig/corrections-of.ts";
import { addressOf, type CuttableLine, startCuttableLine } from "../rig/cuttable-line.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { unpacked } from "../rig/unpacked.ts";

describeWithTemporal("a correction whose sale goes away meanwhile", () => {
  let rig: Rig;
  /** Between the rig and Temporal. */
  let line: CuttableLine;
  let onSent: (bytes: Buffer) => void = () => undefined;
  const address = inject("temporalAddress") ?? "";
  beforeAll(async () => {
    line = await startCuttableLine(addressOf(address), (bytes) => onSent(bytes));
    rig = await startRig({ receiver: false, address: `127.0.0.1:${line.port}` });
  });
  // A test that fails in between leaves the next one its line.
  afterEach(() => {
    onSent = () => undefined;
    line.restore();
  });
  afterAll(async () => {
    await rig?.close();
    await line?.close();
  });

  const corrections = correctionsOf(() => rig);
  const { sold, begin, crediting, idOf, when, attentionOf, movedFor, isBookedOnce, isCorrectedOnce } = corrections;
  const { onHand, handleOf, result } = salesOf(() => rig);

  test("asks an operator where neither Temporal nor the ledger shows the sale, and goes on once it is there again", async () => {
    const before = onHand();
    const name = "GONE-1";
    await crediting(name, "1 hour");
    await rig.stopWorkers();
    await handleOf(name).terminate("by mistake");
    await forgetWorkflow(rig, handleOf(name).workflowId);
    const database = openOutsideClient(asOwner(rig.config.ledger.url?.reveal() ?? ""));
    await database.tamper("delete from documents where type = 'sale' and number = $1", [name]);
    await database.end();
    await rig.startWorkers();
    expect(await attentionOf(name)).toMatchObject({
      code: "correction-incomplete",
      message: `Neither Temporal nor the ledger shows the document of ${name} any more.`,
      resolvedBy: ["retry"],
    });
    const away = { operation: "createSale", when: "before", kind: "status", status: 503 } as const;
    const serveAgain = rig.simulator.inject({ ...away, match: { invoice: name } });
    await rig.starter.startSale({ traderInvoiceNumber: name, lines: [TEA] });
    await rig.stateWhen(name, ({ stage }) => stage === "submitting");
    rig.simulator.setAuthority(`CN-${name}`, [{ do: "accept" }]);
    // It waits for the document of the sale, and does not ask once more.
    await rig.starter.retry({ workflowId: idOf(name) }, { note: "the sale was started again, as it was" });
    await when(name, ({ attentions }) => attentions.length === 0);
    serveAgain();
    await isCorrectedOnce(name, before);
  });

  test("starts it again where it was terminated before it was asked for the refund", async () => {
    const before = onHand();
    const name = "RACE-1";
    await sold(name);
    const asked = new Promise<void>((resolve) => {
      onSent = (bytes) => {
        const text = unpacked(bytes);
        if (!text.includes("refundRequested") || !text.includes(`CN-${name}`)) return;
        line.cut();
        resolve();
      };
    });
    const beginning = begin(name).catch(() => undefined);
    await asked;
    onSent = () => undefined;
    const past = await Connection.connect({ address });
    const { workflowId } = handleOf(name);
    await new Client({ connection: past, namespace: rig.namespace }).workflow.getHandle(workflowId).terminate("a slip");
    await past.close();
    line.restore();
    await beginning;
    expect(await when(name, ({ stage }) => stage === "corrected")).toMatchObject({ attentions: [] });
    await result(`${name}-NEW`);
    isBookedOnce(name, before);
  });

  test("starts it again where it was terminated while its credit note was under way, and its goods go back once", async () => {
    const before = onHand();
    const name = "HALF-1";
    await crediting(name, "1 hour");
    await handleOf(name).terminate("by mistake");
    rig.simulator.setAuthority(`CN-${name}`, [{ do: "accept" }]);
    await isCorrectedOnce(name, before);
    expect(await when(name, () => true)).not.toHaveProperty("message");
  });

  test("leaves its goods to the restarted sale, where it was terminated once its credit note was signed", async () => {
    const before = onHand();
    const name = "SIGNED-1";
    await sold(name);
    // A worker that begins knows no branch, and looks where the goods go back to.
    await rig.stopWorkers();
    await rig.startWorkers();
    const away = { operation: "listBusinesses", when: "before", kind: "status", status: 503 } as const;
    const serveAgain = rig.simulator.inject(away);
    const refund = { reason: "06", traderInvoiceNumber: `CN-${name}`, restock: true } as const;
    const refunded = await rig.starter.refund({ invoice: name }, refund, { waitSeconds: 20 });
    expect(refunded).toMatchObject({ stage: "credited" });
    await handleOf(name).terminate("by mistake");
    serveAgain();
    await begin(name);
    const { message } = await when(name, ({ stage }) => stage === "corrected");
    expect(message).toMatch(
      /^Nothing shows that the goods of the sale SIGNED-1 went back to stock\..*restart the sale/,
    );
    await result(`${name}-NEW`);
    expect(movedFor(name)).toEqual([
      ["DEDUCT", 2],
      ["DEDUCT", 3],
    ]);
    await rig.starter.restart({ invoice: name }, { note: "a slip" });
    await isCorrectedOnce(name, before);
  });
});
