import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { creditNoteWorkflowId } from "../../src/contract/index.ts";
import { correctionsOf } from "../rig/corrections-of.ts";
import type { CuttableLine } from "../rig/cuttable-line.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import type { Rig } from "../rig/start-rig.ts";
import { type RigOnLine, startRigOnLine } from "../rig/start-rig-on-line.ts";
import { BUSINESS } from "../rig/views-of.ts";

/** The ledger takes the sale for its correction, and the claims of all that moves. */
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

  const { sold, request, correct, idOf, when, documentsOf, both, movedFor, settled } = correctionsOf(() => rig);
  const { onHand } = salesOf(() => rig);

  const begin = (name: string) => correct(name, request(name), { waitSeconds: 0 });

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

  async function creditNoteIdOf(invoice: string): Promise<string> {
    const { document } = await rig.starter.getSale({ invoice });
    return creditNoteWorkflowId({ ...BUSINESS, saleId: document?.id ?? "" });
  }

  /** It goes on to its end: one credit note, one corrected sale, and each movement once. */
  async function isCorrectedOnce(name: string, before: number): Promise<void> {
    expect(await when(name, ({ stage }) => stage === "corrected")).toMatchObject({ attentions: [] });
    await settled(name);
    expect(documentsOf(name)).toEqual(both(name));
    expect(movedFor(name)).toEqual([
      ["DEDUCT", 2],
      ["ADD", 2],
      ["DEDUCT", 3],
    ]);
    expect(onHand()).toBe(before - 3);
  }

  test("as it begins waits before anything is credited", async () => {
    const before = onHand();
    await sold("CUT-1");
    line.cut();
    expect(await begin("CUT-1")).toMatchObject({ stage: "preparing" });
    await waitsIn(idOf("CUT-1"), "prepareCorrection");
    expect(documentsOf("CUT-1")).toHaveLength(1);
    line.restore();
    await isCorrectedOnce("CUT-1", before);
  });

  test("as the credit note's answer arrives keeps the answer, and credits once", async () => {
    const before = onHand();
    await sold("CUT-2");
    const slow = { operation: "creditNote", when: "after", kind: "slow", delayMs: 1_500, times: 1 } as const;
    rig.simulator.inject(slow);
    await begin("CUT-2");
    await rig.simulator.until(() => documentsOf("CUT-2").length === 2);
    line.cut();
    await waitsIn(await creditNoteIdOf("CUT-2"));
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
    await waitsIn(await creditNoteIdOf("CUT-3"));
    expect(documentsOf("CUT-3")).toHaveLength(2);
    line.restore();
    await isCorrectedOnce("CUT-3", before);
  });

  test("as the corrected sale is signed shows it, and ends once the ledger is back", async () => {
    const before = onHand();
    await sold("CUT-4");
    rig.simulator.setAuthority("CUT-4-NEW", [{ do: "down" }]);
    await begin("CUT-4");
    await when("CUT-4", ({ stage }) => stage === "issuing");
    await rig.simulator.until(() => movedFor("CUT-4").length === 3);
    line.cut();
    rig.simulator.setAuthority("CUT-4-NEW", [{ do: "accept" }]);
    await waitsIn(idOf("CUT-4"), "endCorrection");
    expect(await when("CUT-4", () => true)).toMatchObject({ stage: "issuing" });
    line.restore();
    await isCorrectedOnce("CUT-4", before);
  });
});
