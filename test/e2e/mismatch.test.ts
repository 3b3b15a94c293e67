import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleOutcome } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/** Nothing is sent of the buyer. */
const DIALECT = { createSale: { fields: { customer: null } } };
const BUYER = { customer: { name: "Wanjiku Traders", pin: "P051234567X" } };
const SAID =
  "customer.pin: expected P051234567X, found nothing. If the service took no notice of what was sent, it uses other names: set createSale.fields.customer, createSale.customerFields.pin in COMPLIANCE_DIALECT.";

describeWithTemporal("a document that is not what was asked for", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ env: { COMPLIANCE_DIALECT: JSON.stringify(DIALECT) } });
  });
  afterAll(() => rig?.close());

  const { start, handleOf, parked } = salesOf(() => rig);

  async function acknowledged(invoice: string): Promise<SaleOutcome> {
    await rig.starter.acknowledge({ invoice }, { code: "mismatch", note: "told the buyer" });
    return (await handleOf(invoice).result()) as SaleOutcome;
  }

  test("is shown with the settings that name what is missing; the sale goes on, and ends once that is acknowledged", async () => {
    await start("UNNAMED-1", { ...BUYER, lines: [TEA] });
    const { attentions } = await rig.stateWhen("UNNAMED-1", ({ stage }) => stage === "completed");
    expect(attentions).toMatchObject([{ code: "mismatch", message: SAID, resolvedBy: ["acknowledge"] }]);
    expect(await acknowledged("UNNAMED-1")).toMatchObject({ stage: "completed" });
    expect(rig.callsOf("UNNAMED-1")).toContain("createSale");
  });

  test("and that existed before is taken for the sale's own only once an operator has acknowledged it", async () => {
    const match = { invoice: "UNNAMED-2" };
    rig.simulator.inject({ operation: "createSale", when: "after", kind: "drop", times: 1, match });
    await start("UNNAMED-2", { ...BUYER, lines: [TEA] });
    const { stage, attentions } = await parked("UNNAMED-2", "mismatch");
    expect(stage).toBe("submitting");
    expect(attentions).toMatchObject([{ message: SAID }]);
    expect(await acknowledged("UNNAMED-2")).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("UNNAMED-2")).toHaveLength(1);
  });
});
