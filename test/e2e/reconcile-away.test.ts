import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { reconcileWorkflowId } from "../../src/contract/index.ts";
import { outagesOf, startRigInOrder } from "../rig/api-away.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import type { Rig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";

describeWithTemporal("while the API is away, a reconciliation", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRigInOrder();
  });
  const { away, backAgain } = outagesOf(() => rig);
  afterEach(backAgain);
  afterAll(() => rig?.close());
  const { start, result } = salesOf(() => rig);
  const { fiscalflow } = viewsOf(() => rig);

  test("does not pass for one that matches, where it has not ended by the end of its wait", async () => {
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
