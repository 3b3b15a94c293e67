import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { SaleInput, WorkflowState } from "../../src/contract/index.ts";
import type { Simulator } from "../../src/dev/simulator/index.ts";
import { type SkippingRig, startSkippingRig } from "../rig/skipping-rig.ts";

describe("over days", () => {
  let rig: SkippingRig;
  let env: SkippingRig["env"];
  let simulator: Simulator;
  beforeAll(async () => {
    rig = await startSkippingRig();
    ({ env, simulator } = rig);
  });
  afterAll(() => rig?.close());

  const start = (invoice: string, more?: Partial<SaleInput>) => rig.startSale(invoice, more);

  test("a refund window of 30 days closes by itself", async () => {
    const handle = await start("WINDOW-1", { refundWindow: "30 days" });
    const before = await env.currentTimeMs();
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    expect((await env.currentTimeMs()) - before).toBeGreaterThan(29 * 24 * 3_600_000);
    await rig.replayed(handle);
  });

  test("a sale that is in flight for a week costs a bounded history and few calls, and is shown as slow after an hour", async () => {
    simulator.setAuthority("WEEK-1", [{ do: "down" }]);
    const handle = await start("WEEK-1", { refundWindow: "0" });
    await env.sleep("2 hours");
    const state = await handle.query<WorkflowState>("state");
    expect(state).toMatchObject({ stage: "awaiting-authority", attentions: [{ code: "authority-slow" }] });
    const early = await rig.eventsOf(handle);
    await env.sleep("7 days");
    expect(await rig.eventsOf(handle)).toBe(early);
    const reads = simulator.calls({ operation: "readSale" }).length;
    expect(reads).toBeGreaterThan(50);
    expect(reads).toBeLessThan(400);
    simulator.setAuthority("WEEK-1", [{ do: "accept" }]);
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    // Its record while it waits, and the one at its end, are seven of them.
    expect(await rig.eventsOf(handle)).toBeLessThan(88);
    await rig.replayed(handle);
  });

  test("a sale and a refund have the date in Nairobi at the moment of the request", async () => {
    const until = async (time: string): Promise<string> => {
      const nowMs = await env.currentTimeMs();
      const today = new Date(nowMs).toISOString().slice(0, 10);
      const laterTodayMs = Date.parse(`${today}T${time}Z`);
      const atMs = laterTodayMs > nowMs ? laterTodayMs : laterTodayMs + 86_400_000;
      await env.sleep(atMs - nowMs);
      return new Date(atMs).toISOString().slice(0, 10);
    };
    const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
    const dateOf = (invoice: string) => simulator.documents(invoice)[0]?.saleDate;

    const before = await until("20:59:00");
    // Time passes while a result is awaited, and with it the window of every open sale; it does not while an update is.
    const completed = async (invoice: string) => {
      const handle = await start(invoice, { refundWindow: "30 days" });
      expect(await handle.executeUpdate("outcome", { args: [{ waitSeconds: 20 }] })).toMatchObject({
        stage: "completed",
      });
      return handle;
    };
    const handle = await completed("NAIROBI-2059");
    expect(dateOf("NAIROBI-2059")).toBe(before);

    const day = await until("21:00:00");
    await completed("NAIROBI-2100");
    await handle.executeUpdate("refund", { args: [{ reason: "06", traderInvoiceNumber: "CN-NAIROBI-2100" }] });
    expect([dateOf("NAIROBI-2100"), dateOf("CN-NAIROBI-2100")]).toEqual([dayAfter(day), dayAfter(day)]);

    const late = await until("23:59:00");
    await completed("NAIROBI-2359");
    expect(dateOf("NAIROBI-2359")).toBe(dayAfter(late));
  });

  test("a refused key is probed automatically, ever less often", async () => {
    simulator.setKey("cmp_sk_test_simulator", { scopes: ["sales:read", "catalog:read", "stock:write"] });
    const handle = await start("KEY-1", { refundWindow: "0" });
    await env.sleep("6 hours");
    const state = await handle.query<WorkflowState>("state");
    expect(state.attentions).toMatchObject([{ code: "credentials" }]);
    // Since when, and not since when it was looked at last.
    expect((await env.currentTimeMs()) - (state.attentions[0]?.sinceMs ?? Infinity)).toBeGreaterThan(5.9 * 3_600_000);
    const tries = simulator.calls({ operation: "createSale", status: 403 }).length;
    expect(tries).toBeGreaterThanOrEqual(5);
    expect(tries).toBeLessThan(20);
    simulator.setKey("cmp_sk_test_simulator", { scopes: ["sales:read", "sales:write", "catalog:read", "stock:write"] });
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    await rig.replayed(handle);
  });

  test("a refused key is probed once for all sales, and all go on automatically once it works", async () => {
    simulator.setApplication("simulator", { suspended: true });
    const before = simulator.calls().length;
    const handles = await Promise.all(Array.from({ length: 20 }, (_, i) => start(`KEYS-${i}`, { refundWindow: "0" })));
    await env.sleep("6 hours");
    // As many calls as were under way at the first refusal (16), then one look each ten minutes for all of them.
    const looks = simulator.calls().length - before;
    expect(looks).toBeGreaterThanOrEqual(5);
    expect(looks).toBeLessThan(60);
    simulator.setApplication("simulator", { suspended: false });
    const worksAgainAtMs = await env.currentTimeMs();
    const closedAtMs: number[] = [];
    for (const handle of handles) {
      expect(await handle.result()).toMatchObject({ stage: "completed" });
      closedAtMs.push((await handle.describe()).closeTime?.getTime() ?? Infinity);
    }
    // The longest pause between two looks of a sale, and the longest of the key.
    expect(Math.max(...closedAtMs) - worksAgainAtMs).toBeLessThan(45 * 60_000);
  });
});
