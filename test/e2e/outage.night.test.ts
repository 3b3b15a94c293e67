import { afterAll, beforeAll, expect, test } from "vitest";

import type { AuthorityStep } from "../../src/dev/simulator/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const DELIVERY = { itemId: "item_delivery", quantity: 1, unitPrice: 200 };

describeWithTemporal("while the API is in trouble", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());

  async function start(traderInvoiceNumber: string, line: object = DELIVERY): Promise<string> {
    await rig.starter.startSale({ traderInvoiceNumber, lines: [{ ...DELIVERY, ...line }], refundWindow: "0" });
    return traderInvoiceNumber;
  }

  const outcomeOf = (invoice: string) => rig.starter.outcome({ invoice }, { waitSeconds: 30 });
  const named = (name: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${name}-${i + 1}`);

  test("sales that start during an outage finish by themselves after it, each with one document, even if answers were lost", async () => {
    const endOutage = rig.simulator.inject({ operation: "createSale", when: "before", kind: "status", status: 503 });
    const invoices = await Promise.all(named("OUTAGE", 8).map((invoice) => start(invoice)));
    await rig.simulator.until(() => rig.simulator.calls({ operation: "createSale" }).length >= 12);
    rig.simulator.inject({ operation: "createSale", when: "after", kind: "drop", times: 5 });
    endOutage();
    const outcomes = await Promise.all(invoices.map(outcomeOf));
    expect(outcomes).toMatchObject(invoices.map(() => ({ stage: "completed", receipt: { receiptLabel: "NS" } })));
    expect(outcomes.flatMap(({ attention }) => attention ?? [])).toEqual([]);
    expect(invoices.map((invoice) => rig.simulator.documents(invoice).length)).toEqual(invoices.map(() => 1));
    expect(rig.simulator.books().keyReusedWithOtherBody).toEqual([]);
  });

  test("a 429 counts against none of a sale's limits, however many come", async () => {
    const limited = { when: "before", kind: "rate-limit", retryAfterSeconds: 0, times: 5 } as const;
    const refused: AuthorityStep[] = [{ do: "reject", reason: "Not yet" }, { do: "accept" }];
    rig.simulator.setAuthority("LIMIT-2", refused);
    rig.simulator.inject({ ...limited, operation: "createSale", match: { invoice: "LIMIT-1" } });
    rig.simulator.inject({ ...limited, operation: "retry", match: { invoice: "LIMIT-2" } });
    rig.simulator.inject({ ...limited, operation: "adjustStock", match: { referenceId: "LIMIT-3/item_tea/sold" } });
    const tea = { itemId: "item_tea", quantity: 2, unitPrice: 350 };
    await Promise.all([start("LIMIT-1"), start("LIMIT-2"), start("LIMIT-3", tea)]);
    for (const invoice of ["LIMIT-1", "LIMIT-2", "LIMIT-3"]) {
      const outcome = await outcomeOf(invoice);
      expect(outcome.attention).toBeUndefined();
      expect(outcome).toMatchObject({ stage: "completed" });
      expect(rig.simulator.documents(invoice)).toHaveLength(1);
    }
    await rig.stateWhen("LIMIT-3", ({ stockMovements }) => stockMovements[0]?.state === "applied");
    expect(rig.simulator.calls({ status: 429 })).toHaveLength(15);
    const moved = rig.simulator.books().movements.filter(({ referenceId }) => referenceId === "LIMIT-3/item_tea/sold");
    expect(moved).toHaveLength(1);
  });

  test("sales that wait for an operator do not hold up the others", async () => {
    for (const invoice of named("STUCK-DOWN", 8)) rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    for (const invoice of named("STUCK-NO", 8)) rig.simulator.setAuthority(invoice, [{ do: "reject", reason: "No" }]);
    await Promise.all([...named("STUCK-DOWN", 8), ...named("STUCK-NO", 8)].map((invoice) => start(invoice)));
    await Promise.all(named("STUCK-ITEM", 8).map((invoice) => start(invoice, { itemId: "item_nobody_knows" })));
    for (const one of named("STUCK-ITEM", 8)) await rig.stateWhen(one, (state) => state.attentions.length > 0);
    const fresh = await Promise.all(named("FRESH", 10).map((invoice) => start(invoice)));
    expect(await Promise.all(fresh.map(outcomeOf))).toMatchObject(fresh.map(() => ({ stage: "completed" })));
    expect(rig.simulator.documents("STUCK-DOWN-1")).toMatchObject([{ status: "pending" }]);
  });
});
