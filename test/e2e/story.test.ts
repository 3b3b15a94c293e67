import { defaultPayloadConverter } from "@temporalio/common";
import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { nameOfStep } from "../rig/replay-all.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("the history of a sale in Temporal's UI", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { firstPollMs: 200 } });
  });
  afterAll(() => rig?.close());

  const { handleOf, start, result } = salesOf(() => rig);

  /** The summaries of a workflow's activities and timers in their order, without its record's. */
  async function storyOf(workflowId: string): Promise<string> {
    const { events = [] } = await rig.client.workflow.getHandle(workflowId).fetchHistory();
    const steps = (events ?? []).filter((event) => nameOfStep(event) !== undefined);
    const lines = steps.map(({ userMetadata }) =>
      defaultPayloadConverter.fromPayload<string>(userMetadata?.summary ?? {}),
    );
    // When the ledger's record is saved, and whether it waits for movements, depends on which answer comes first.
    return lines
      .filter((line) => !/record/.test(line))
      .join("\n")
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d EAT/g, "<time> EAT");
  }

  test("has a readable summary for each event, from the check of the sale to the return of its goods", async () => {
    rig.simulator.setAuthority("STORY-1", [{ do: "accept", afterMs: 1_000 }]);
    const lines = [TEA, { itemId: "item_new", quantity: 1, unitPrice: 120 }];
    await start("STORY-1", { lines, callback: "off", branch: "00", refundWindow: "1 hour" });
    await rig.stateWhen("STORY-1", ({ stage }) => stage === "completed");
    await rig.starter.refund({ invoice: "STORY-1" }, { reason: "06", traderInvoiceNumber: "CN-1", restock: true });
    await result("STORY-1");
    expect(await storyOf(handleOf("STORY-1").workflowId)).toMatchInlineSnapshot(`
      "Check the sale
      Find the branch 00
      Find the items of the lines in the catalogue
      Register Bar soap, not yet registered
      Write the sale's request
      Issue the sale STORY-1
      Wait before the first look
      Take 2 × Tea leaves 500 g from stock, branch branch_1
      Take 1 × Bar soap, not yet registered from stock, branch branch_1
      Wait for the tax authority: each attempt is one look
      If nothing has come by then, the authority is slow
      Refund window until <time> EAT
      The refund's caller waits for the credit note
      Open the credit note's row
      Keep in the ledger what the run knows
      Write the credit note's request
      Issue the credit note CN-1
      Read from the ledger what the sale took from stock
      Keep in the ledger what the run knows
      Return 2 × Tea leaves 500 g to stock, branch branch_1
      Return 1 × Bar soap, not yet registered to stock, branch branch_1"
    `);
  });
});
