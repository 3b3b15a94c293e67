import { describe, expect, test } from "vitest";

import type { PlanRegistrationsRequest, PlanRegistrationsResult } from "../../src/contract/index.ts";
import { inActivity, serve, type Served, START_MS } from "../test-support/served.ts";

const SCOPE = { connection: "default", businessId: "biz_1" };

const plan = (served: Served, more: Partial<PlanRegistrationsRequest> = {}): Promise<PlanRegistrationsResult> =>
  inActivity(() =>
    served.activities.planRegistrations({
      ...SCOPE,
      batchId: "batch-1",
      most: 50,
      force: false,
      notOlderThanMs: START_MS,
      ...more,
    }),
  );
const kept = async (served: Served) => {
  const kinds = ["registered-already", "needs-data", "unknown"] as const;
  const rows = await served.context.ledger.items.page(SCOPE, { kinds: [...kinds], most: 100 });
  return rows.map(({ item, kind }) => [item, kind]);
};

describe("the items that the next chunk of a registration takes", () => {
  test("are those that are to be registered; what needs no call is written down at once", async () => {
    const served = await serve();
    expect(await plan(served)).toEqual({
      kind: "planned",
      items: [{ id: "item_new", name: "Bar soap, not yet registered" }],
      settled: { "registered-already": 4, "needs-data": 1 },
      total: 6,
      next: null,
    });
    expect(await kept(served)).toEqual([
      ["item_delivery", "registered-already"],
      ["item_flour", "registered-already"],
      ["item_gas", "registered-already"],
      ["item_incomplete", "needs-data"],
      ["item_tea", "registered-already"],
    ]);
  });

  test("come a few at a time in a fixed order, each once", async () => {
    const served = await serve();
    for (let n = 0; n < 25; n++)
      served.simulator.addItem({
        id: `new_${String(n).padStart(2, "0")}`,
        businessId: "biz_1",
        name: `New ${n}`,
        unitPrice: 1,
        registrationStatus: "PENDING",
      });
    const seen: string[] = [];
    let after: string | null = "";
    while (after !== null) {
      const result: PlanRegistrationsResult = await plan(served, { after, most: 10 });
      if (result.kind !== "planned") throw new Error(result.message);
      seen.push(...result.items.map(({ id }) => id));
      after = result.next;
    }
    expect(seen).toHaveLength(26);
    expect(new Set(seen).size).toBe(26);
    // The catalogue is read once for all of it.
    expect(served.simulator.calls({ operation: "listItems" })).toHaveLength(1);
  });

  test("are taken for what they are, also where the service gives them a field named `kind`", async () => {
    const served = await serve();
    const tea = { id: "item_tea", name: "Tea leaves", stockTracked: true, registrationStatus: "REGISTERED" };
    served.simulator.inject({
      operation: "listItems",
      when: "before",
      kind: "status",
      status: 200,
      body: { data: { items: [{ ...tea, kind: "goods" }] } },
    });
    expect(await plan(served)).toMatchObject({ items: [], settled: { "registered-already": 1 }, total: 1 });
  });

  test("are all items of the catalogue when forced", async () => {
    const served = await serve();
    expect(await plan(served, { force: true })).toMatchObject({ settled: {}, total: 6, next: null });
  });

  test("of a list are found by id, external id or SKU; a name that no item has is recorded", async () => {
    const served = await serve();
    const result = await plan(served, { items: ["SOAP-1", "ext-new", "item_tea", "nothing"] });
    expect(result).toMatchObject({
      items: [{ id: "item_new" }],
      settled: { "registered-already": 1, unknown: 1 },
      next: null,
    });
  });
});
