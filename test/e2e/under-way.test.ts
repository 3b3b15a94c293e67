import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { reconcileWorkflowId } from "../../src/contract/index.ts";
import { outagesOf, startRigInOrder } from "../rig/api-away.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import type { Rig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";

describeWithTemporal("while the API is away, a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRigInOrder();
  });
  const { away, backAgain } = outagesOf(() => rig);
  afterEach(backAgain);
  afterAll(() => rig?.close());
  const { start, result } = salesOf(() => rig);
  const { report, row, openNumbers, fiscalflow } = viewsOf(() => rig);

  test("is open and at risk in the report and counted by `documents`, from its first call on, until it is signed", async () => {
    away();
    await start("AWAY-1");
    await expect.poll(openNumbers).toEqual(["AWAY-1"]);
    // The workers know by now that it is away: a sale may have to wait until its first call is even tried.
    await start("AWAY-2");
    await expect.poll(async () => (await openNumbers()).toSorted()).toEqual(["AWAY-1", "AWAY-2"]);
    await expect.poll(async () => (await row("AWAY-1"))?.stage).toBe("submitting");
    expect((await report()).open).toMatchObject([
      { type: "sale", documentId: null, attentions: [], atRisk: "700.00" },
      { type: "sale", documentId: null, attentions: [], atRisk: "700.00" },
    ]);
    expect((await fiscalflow("documents", "day")).stdout).toContain(
      "2 sales and credit notes of this period are under way",
    );
    backAgain();
    for (const invoice of ["AWAY-1", "AWAY-2"]) expect(await result(invoice)).toMatchObject({ stage: "completed" });
    expect(await openNumbers()).toEqual([]);
    expect((await rig.ledger.records.verify(BUSINESS)).findings).toEqual([]);
  });

  test("does not pass for one that matches, where a reconciliation has not ended by the end of its wait", async () => {
    await start("REC-1");
    await result("REC-1");
    away();
    const { exitCode, stdout } = await fiscalflow("reconcile", "--wait", "1");
    expect(stdout).toMatch(/^It goes on by itself: 0 documents checked/);
    expect(stdout).toMatch(/\nIt has not ended: until then, nothing is known to match\.\n$/);
    expect(exitCode).toBe(0);
    await rig.client.workflow.getHandle(reconcileWorkflowId(BUSINESS)).terminate();
  });
});
