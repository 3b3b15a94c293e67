import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { reconcileWorkflowId } from "../../src/contract/index.ts";
import { outagesOf, startRigInOrder } from "../rig/api-away.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf } from "../rig/sales-of.ts";
import type { Rig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";
import { findingsIn } from "../rig/findings-in.ts";

describeWithTemporal("while the API is away, a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRigInOrder();
  });
  const { away, backAgain } = outagesOf(() => rig);
  afterEach(backAgain);
  afterAll(() => rig?.close());
  const { start, result, handleOf } = salesOf(() => rig);
  const { row, openNumbers, fiscalflow } = viewsOf(() => rig);

  test("that is reset after it was signed stays signed", async () => {
    await start("RESET-1");
    await result("RESET-1");
    away();
    await resetRun(rig.client, rig.namespace, handleOf("RESET-1").workflowId);
    // The call that reads its document is held up.
    await expect.poll(async () => (await rig.starter.getSale({ invoice: "RESET-1" })).serviceTrouble).toBeDefined();
    expect(await row("RESET-1")).toMatchObject({ stage: "completed", document: { status: "completed" } });
    expect(await openNumbers()).toEqual([]);
    backAgain();
    await result("RESET-1");
  });

  test("that is reset after its credit note was signed is not open", async () => {
    await start("REFUNDED-1");
    await result("REFUNDED-1");
    await rig.starter.refund({ invoice: "REFUNDED-1" }, { reason: "06", traderInvoiceNumber: "CN-3" });
    await result("REFUNDED-1");
    away();
    await resetRun(rig.client, rig.namespace, handleOf("REFUNDED-1").workflowId);
    await expect.poll(async () => (await rig.starter.getSale({ invoice: "REFUNDED-1" })).serviceTrouble).toBeDefined();
    expect(await openNumbers()).toEqual([]);
    backAgain();
    expect(await result("REFUNDED-1")).toMatchObject({ stage: "credited" });
    expect(await findingsIn(rig.ledger)).toEqual([]);
  });

  test("does not pass for one that matches, where a reconciliation has not ended by the end of its wait", async () => {
    await start("REC-1");
    await result("REC-1");
    away();
    const { exitCode, stdout } = await fiscalflow("reconcile", "--wait", "1");
    expect(stdout).toMatch(/^It goes on by itself: 0 documents checked/);
    expect(stdout).not.toMatch(/match/);
    expect(exitCode).toBe(0);
    await rig.client.workflow.getHandle(reconcileWorkflowId(BUSINESS)).terminate();
  });
});
