import { describe, expect, test } from "vitest";

import { sellTea, teaRequest } from "../test-support/requests.ts";
import { API_KEY, failureOf, inActivity, serve, type Served, START_MS } from "../test-support/served.ts";

const TARGET = { connection: "default", businessId: "biz_1" };
const HELD = {
  attention: "credentials",
  status: 401,
  apiCode: "invalid_api_key",
  details: { notSent: true, keyRefusedSince: "2026-11-21T09:00:00.000Z" },
};

async function withRefusedKey(): Promise<Served> {
  const served = await serve();
  served.simulator.setApplication("simulator", { suspended: true });
  await sellTea(served, "FIRST");
  expect(served.simulator.calls()).toHaveLength(1);
  return served;
}

const of = { type: "sale", number: "INV-1", purpose: "sold" } as const;
const movement = {
  referenceId: "INV-1/1",
  of,
  itemId: "item_tea",
  action: "DEDUCT",
  quantity: 1,
  unitPrice: 1,
} as const;
const lines = [{ sku: "RICE-1", quantity: 1, unitPrice: 1 }];

describe("while a key is refused", () => {
  const calls: [string, (served: Served) => Promise<{ kind: string }>][] = [
    ["createSale", (served: Served) => served.activities.createSale(teaRequest(served, "INV-1"))],
    ["readItems", ({ activities }: Served) => activities.readItems({ ...TARGET, lines })],
    ["readBranch", ({ activities }: Served) => activities.readBranch({ ...TARGET, branch: "00" })],
    ["registerItem", ({ activities }: Served) => activities.registerItem({ ...TARGET, itemId: "item_new" })],
    ["readDocument", ({ activities }: Served) => activities.readDocument({ ...TARGET, saleId: "sal_1" })],
    [
      "retryDocument",
      ({ activities }: Served) =>
        activities.retryDocument({ ...TARGET, saleId: "sal_1", of: { type: "sale", number: "INV-1" } }),
    ],
  ];
  test.each(calls)(
    "%s is refused without being sent, with the answer that the key had and the evidence",
    async (_name, act) => {
      const served = await withRefusedKey();
      expect(await inActivity(() => act(served))).toMatchObject({ kind: "refused", ...HELD });
      expect(served.simulator.calls()).toHaveLength(1);
    },
  );

  test("only what was sent is counted", async () => {
    const served = await serve();
    served.simulator.setApplication("simulator", { suspended: true });
    const counted: unknown[] = [];
    const count = (name: string, labels: object): void => void counted.push([name, labels]);
    const read = () => served.activities.readDocument({ ...TARGET, saleId: "sal_1" });
    for (let calls = 0; calls < 3; calls++) await inActivity(read, { count });
    expect(served.simulator.calls()).toHaveLength(1);
    expect(counted).toMatchObject([
      [
        "fiscalflow_calls",
        { service: "compliance", connection: "default", operation: "getSale", outcome: "configuration" },
      ],
    ]);
  });

  test("a stock movement is certainly not applied", async () => {
    const served = await withRefusedKey();
    const result = await inActivity(() =>
      served.activities.adjustStock({ ...TARGET, ...movement, claim: { generation: 1, token: "one" } }),
    );
    expect(result).toMatchObject({ kind: "not-applied", refusal: HELD });
    expect(served.simulator.calls()).toHaveLength(1);
  });

  test("a wait for items goes on, and reads them when the key is tried again", async () => {
    const served = await withRefusedKey();
    const wait = () => served.activities.awaitItems({ ...TARGET, lines, until: "known", sinceMs: START_MS });
    expect(await failureOf(wait)).toMatchObject({ type: "StillWaiting", benign: true, pauseMs: 30_000 });
    expect(served.simulator.calls()).toHaveLength(1);
    served.clock.nowMs += 30_000;
    expect(await inActivity(wait)).toMatchObject({ attention: "credentials" });
    expect(served.simulator.calls()).toHaveLength(2);
  });

  test("items are still answered from the catalogue, which does not count as an accepted call", async () => {
    const served = await serve();
    const known = [{ sku: "TEA-500", quantity: 1, unitPrice: 1 }];
    await inActivity(() => served.activities.readItems({ ...TARGET, lines: known }));
    served.simulator.setApplication("simulator", { suspended: true });
    await sellTea(served, "FIRST");
    expect(await inActivity(() => served.activities.readItems({ ...TARGET, lines: known }))).toMatchObject({
      kind: "resolved",
    });
    const before = served.simulator.calls().length;
    expect(await sellTea(served, "SECOND")).toMatchObject(HELD);
    expect(served.simulator.calls()).toHaveLength(before);
  });

  test("registrations are still planned from the catalogue, which does not count as an accepted call", async () => {
    const served = await serve();
    const { activities, simulator, clock } = served;
    const some = { batchId: "batch-1", most: 1, force: true, notOlderThanMs: START_MS };
    const plan = () => inActivity(() => activities.planRegistrations({ ...TARGET, ...some }));
    await plan();
    simulator.setApplication("simulator", { suspended: true });
    await sellTea(served, "FIRST");
    // It is time for a probe.
    clock.nowMs += 10 * 60_000;
    expect(await plan()).toMatchObject({ kind: "planned" });
    expect(served.alerts).toMatchObject([{ says: "refused" }]);
  });

  test("an operator's retry is sent, and its answer counts for all calls", async () => {
    const served = await withRefusedKey();
    served.simulator.setApplication("simulator", { suspended: false });
    expect(await sellTea(served, "SECOND")).toMatchObject(HELD);
    const retried = { ...teaRequest(served, "THIRD"), retriedAtMs: START_MS + 1 };
    expect(await inActivity(() => served.activities.createSale(retried))).toMatchObject({ kind: "document" });
    expect(await sellTea(served, "SECOND")).toMatchObject({ kind: "document" });
    expect(served.alerts).toMatchObject([
      { says: "refused", connection: "default", operation: "createSale", status: 401, apiCode: "invalid_api_key" },
      { says: "works" },
    ]);
    expect(JSON.stringify(served.alerts)).not.toContain(API_KEY);
  });
});
