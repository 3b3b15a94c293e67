import { afterAll, beforeAll, expect, test } from "vitest";

import type { LedgerEvent } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("the events of refunds", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { parked, sold } = salesOf(() => rig);

  async function all(): Promise<LedgerEvent[]> {
    const events: LedgerEvent[] = [];
    for await (const event of rig.starter.events()) events.push(event);
    return events;
  }

  test("that do not come about go back to completed, and say why", async () => {
    const refundOf = (note: string) => ({ reason: "06", traderInvoiceNumber: note }) as const;
    await Promise.all(["E-CREDITED", "E-TAKEN", "E-GIVEN-UP"].map((invoice) => sold(invoice)));
    await rig.starter.refund({ invoice: "E-CREDITED" }, refundOf("CN-E"), { waitSeconds: 20 });
    await rig.starter.refund({ invoice: "E-TAKEN" }, refundOf("CN-E"));
    await rig.stateWhen("E-TAKEN", ({ attentions }) => attentions.length > 0);
    await rig.starter.acknowledge({ invoice: "E-TAKEN" }, { code: "unexpected-answer", note: "seen" });
    rig.simulator.setAuthority("CN-E-REJECTED", [{ do: "reject", reason: "No" }]);
    await rig.starter.refund({ invoice: "E-GIVEN-UP" }, refundOf("CN-E-REJECTED"));
    await parked("E-GIVEN-UP", "rejected");
    await rig.starter.cancel({ invoice: "E-GIVEN-UP" }, { reason: "test over" });
    const back = ["resolving-items", "completed", "crediting", "completed"];
    const documentsOf = async (subject: string) =>
      (await all()).flatMap((event) => (event.subject === subject && event.document ? [event.document] : []));
    const stagesOf = async (invoice: string) => {
      const stages = (await documentsOf(`sale ${invoice}`)).map(({ stage }) => stage);
      return stages.filter((stage, index) => stage !== stages[index - 1]);
    };
    for (const invoice of ["E-TAKEN", "E-GIVEN-UP"]) await expect.poll(() => stagesOf(invoice)).toEqual(back);
    const codes = (await documentsOf("sale E-TAKEN")).filter(({ attentions }) => attentions.length > 0);
    expect(codes).toMatchObject([{ stage: "crediting", attentions: ["unexpected-answer"] }]);
    const notes = await documentsOf("credit_note CN-E-REJECTED");
    const sale = (await documentsOf("sale E-GIVEN-UP")).at(-1);
    expect(notes.at(-1)).toMatchObject({ stage: "cancelled", status: "failed", originalSaleId: sale?.id });
    expect(new Set(notes.flatMap(({ attentions }) => attentions))).toEqual(new Set(["rejected"]));
  });
});
