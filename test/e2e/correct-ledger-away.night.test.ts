import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { correctionsOf } from "../rig/corrections-of.ts";
import type { CuttableLine } from "../rig/cuttable-line.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import type { Rig } from "../rig/start-rig.ts";
import { type RigOnLine, startRigOnLine } from "../rig/start-rig-on-line.ts";

/** The ledger keeps the reserved number, the claims of all that moves, and what the corrected sale came to. */
describeWithTemporal("a correction while the ledger is away", () => {
  let rig: Rig;
  let line: CuttableLine;
  let onLine: RigOnLine;
  beforeAll(async () => {
    onLine = await startRigOnLine({ receiver: false });
    ({ rig, line } = onLine);
  });
  afterEach(() => line.restore());
  afterAll(() => onLine?.close());

  const corrections = correctionsOf(() => rig);
  const { sold, correct, begin, when, documentsOf, movedFor, isCorrectedOnce } = corrections;
  const { onHand, handleOf } = salesOf(() => rig);

  /** An activity of the workflow, this one or any, has met the outage. */
  async function waitsIn(workflowId: string, activity?: string): Promise<void> {
    const attempts = async (): Promise<number> => {
      const { raw } = await rig.client.workflow.getHandle(workflowId).describe();
      const pending = raw.pendingActivities ?? [];
      const wanted = pending.filter(({ activityType }) => activity === undefined || activityType?.name === activity);
      return Math.max(0, ...wanted.map(({ attempt }) => attempt ?? 0));
    };
    await expect.poll(attempts).toBeGreaterThan(1);
  }

  test("as it begins waits before anything is credited", async () => {
    const before = onHand();
    await sold("CUT-1");
    line.cut();
    void begin("CUT-1").catch(() => undefined);
    await when("CUT-1", ({ stage }) => stage === "preparing");
    await waitsIn(handleOf("CUT-1").workflowId, "openCreditNote");
    expect(documentsOf("CUT-1")).toHaveLength(1);
    line.restore();
    await isCorrectedOnce("CUT-1", before);
  });

  test("as it begins can be cancelled, and leaves the sale free once the ledger is back", async () => {
    const before = onHand();
    await sold("CUT-0");
    line.cut();
    void begin("CUT-0").catch(() => undefined);
    await when("CUT-0", ({ stage }) => stage === "preparing");
    await waitsIn(handleOf("CUT-0").workflowId, "openCreditNote");
    await rig.starter.cancel({ invoice: "CUT-0" }, { reason: "the wrong sale" });
    expect(await when("CUT-0", () => true)).toMatchObject({ stage: "preparing" });
    line.restore();
    await when("CUT-0", ({ stage }) => stage === "cancelled");
    expect(documentsOf("CUT-0")).toEqual([["sale", "completed", "CUT-0", 700]]);
    expect(await correct("CUT-0")).toMatchObject({ stage: "corrected" });
    await isCorrectedOnce("CUT-0", before);
  });

  test("as the credit note's answer arrives keeps the answer, and credits once", async () => {
    const before = onHand();
    await sold("CUT-2");
    const slow = { operation: "creditNote", when: "after", kind: "slow", delayMs: 1_500, times: 1 } as const;
    rig.simulator.inject(slow);
    await begin("CUT-2");
    await rig.simulator.until(() => documentsOf("CUT-2").length === 2);
    line.cut();
    await waitsIn(handleOf("CUT-2").workflowId);
    expect(documentsOf("CUT-2")).toHaveLength(2);
    line.restore();
    await isCorrectedOnce("CUT-2", before);
  });

  test("as it credits a sale that is closed waits to see it credited", async () => {
    const before = onHand();
    await sold("CUT-3", { refundWindow: "0" });
    rig.simulator.setAuthority("CN-CUT-3", [{ do: "down" }]);
    await begin("CUT-3");
    await rig.simulator.until(() => documentsOf("CUT-3").length === 2);
    line.cut();
    rig.simulator.setAuthority("CN-CUT-3", [{ do: "accept" }]);
    await waitsIn(handleOf("CUT-3").workflowId);
    expect(documentsOf("CUT-3")).toHaveLength(2);
    line.restore();
    await isCorrectedOnce("CUT-3", before);
  });

  test("as the corrected sale is signed ends once the ledger is back", async () => {
    const before = onHand();
    await sold("CUT-4");
    rig.simulator.setAuthority("CUT-4-NEW", [{ do: "down" }]);
    await begin("CUT-4");
    await when("CUT-4", ({ stage }) => stage === "issuing");
    await rig.simulator.until(() => movedFor("CUT-4").length === 3);
    line.cut();
    rig.simulator.setAuthority("CUT-4-NEW", [{ do: "accept" }]);
    await waitsIn(handleOf("CUT-4-NEW").workflowId);
    expect(await when("CUT-4", () => true)).toMatchObject({ stage: "issuing" });
    line.restore();
    await isCorrectedOnce("CUT-4", before);
  });
});
