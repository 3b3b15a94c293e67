import { describe, expect, test } from "vitest";

import { loadConfig } from "../../config/index.ts";
import { type Wanted, wantedSchedules } from "./setup.ts";

function wanted(env: Record<string, string>): Wanted {
  const connection = {
    COMPLIANCE_BASE_URL: "https://compliance.example.com",
    COMPLIANCE_API_KEY: "cmp_sk_test_nobody",
  };
  return wantedSchedules(loadConfig({ env: { ...connection, ...env } }));
}

const HOUR_MS = 3_600_000;
const TWENTY = Array.from({ length: 20 }, (_, n) => `biz_${n + 1}`);

describe("the Schedules of a connection", () => {
  test("with one business have fixed ids and offsets, since a change would alter Schedules that run for years", () => {
    const input = { connection: "default", businessId: "biz_1" };
    const purchases = { workflow: "syncPurchases", workflowId: "sync-purchases/default/biz_1" };
    expect(wanted({ COMPLIANCE_BUSINESS_ID: "biz_1" }).schedules).toEqual([
      {
        id: "fiscalflow/sync-purchases/default/biz_1/latest",
        everyMs: HOUR_MS,
        offsetMs: 1_844_000,
        input: { ...purchases, input, ifRunning: "skip" },
      },
      {
        id: "fiscalflow/sync-purchases/default/biz_1/full",
        everyMs: 24 * HOUR_MS,
        offsetMs: 25_379_000,
        input: { ...purchases, input: { ...input, full: true }, ifRunning: "wait" },
      },
      {
        id: "fiscalflow/reconcile/default/biz_1/all",
        everyMs: 24 * HOUR_MS,
        offsetMs: 63_270_000,
        input: { workflow: "reconcile", workflowId: "reconcile/default/biz_1", input, ifRunning: "skip" },
      },
    ]);
  });

  test("are the same for each business, and another business does not change the existing ones", () => {
    const one = { COMPLIANCE_BUSINESS_ID: "biz_1" };
    const several = wanted({ ...one, COMPLIANCE_BUSINESSES: "biz_2,biz_1,biz_3" }).schedules;
    expect(several).toHaveLength(9);
    expect(several).toEqual(expect.arrayContaining(wanted(one).schedules));
    expect(several.map(({ id, input }) => [id, input.input])).toContainEqual([
      "fiscalflow/sync-purchases/default/biz_3/full",
      { connection: "default", businessId: "biz_3", full: true },
    ]);
  });

  test("do not begin at the same second for twenty businesses of one budget", () => {
    const { schedules } = wanted({ COMPLIANCE_BUSINESSES: TWENTY.join(",") });
    expect(schedules).toHaveLength(60);
    for (const kind of ["/latest", "/full", "/all"]) {
      const offsets = schedules.filter(({ id }) => id.endsWith(kind)).map(({ offsetMs }) => offsetMs);
      expect(new Set(offsets).size).toBe(20);
    }
  });

  test("that are off are reported once, not once for each business", () => {
    const off = { COMPLIANCE_PURCHASES_SYNC_EVERY: "off", COMPLIANCE_RECONCILE_EVERY: "off" };
    const { schedules, notScheduled } = wanted({ COMPLIANCE_BUSINESSES: TWENTY.join(","), ...off });
    expect(schedules).toEqual([]);
    expect(notScheduled.map(({ what }) => what)).toEqual([
      "the latest purchases of connection default",
      "all purchases of connection default",
      "the reconciliation of connection default",
    ]);
  });

  test("that serves any business without naming one are none, and both settings are named", () => {
    const { schedules, notScheduled } = wanted({ COMPLIANCE_BUSINESSES: "*" });
    expect(schedules).toEqual([]);
    expect(notScheduled).toHaveLength(2);
    expect(notScheduled[0]?.why).toContain("set COMPLIANCE_BUSINESS_ID, or name some in COMPLIANCE_BUSINESSES");
  });
});
