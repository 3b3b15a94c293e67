import { afterAll, beforeAll, expect, test } from "vitest";

import type { WorkflowState } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/** As many calls as can be under way when the first answer says that the key is refused (`INTERACTIVE_SLOTS`). */
const AT_ONCE = 16;
const SALES = 20;

describeWithTemporal("a key that is refused to many sales", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { start, parked } = salesOf(() => rig);

  async function parkedSales(prefix: string) {
    const invoices = Array.from({ length: SALES }, (_, i) => `${prefix}-${i}`);
    const handles = await Promise.all(invoices.map((invoice) => start(invoice)));
    const states: WorkflowState[] = [];
    for (const invoice of invoices) states.push(await parked(invoice, "credentials"));
    return { invoices, handles, states };
  }

  const calls = (): number => rig.simulator.calls().length;
  const retry = (invoice: string) => rig.starter.retry({ invoice });

  test("costs few calls and one alert; a retry is sent at once, and all sales complete once it works", async () => {
    rig.simulator.setApplication("simulator", { suspended: true });
    const { invoices, handles, states } = await parkedSales("REVOKED");
    const before = calls();
    expect(before).toBeLessThanOrEqual(AT_ONCE);
    const unsent = states.map(({ attentions }) => attentions[0]).filter((one) => one?.evidence?.["notSent"] === true);
    expect(unsent.length).toBeGreaterThanOrEqual(SALES - AT_ONCE);
    expect(unsent[0]).toMatchObject({ evidence: { status: 401, keyRefusedSince: expect.any(String) } });
    expect(rig.logged).toMatchObject([
      { level: "warn", fields: { connection: "default", status: 401, apiCode: "invalid_api_key" } },
    ]);

    const [impatient = "", first = "", ...others] = invoices;
    await retry(impatient);
    await rig.simulator.until(() => calls() === before + 1);
    await parked(impatient, "credentials");
    expect(rig.logged).toHaveLength(1);

    rig.simulator.setApplication("simulator", { suspended: false });
    await retry(first);
    await handles[1]?.result();
    expect(rig.logged).toMatchObject([{ level: "warn" }, { level: "info", fields: { status: 401 } }]);
    await Promise.all([impatient, ...others].map(retry));
    for (const handle of handles) expect(await handle.result()).toMatchObject({ stage: "completed" });
    for (const invoice of invoices) expect(rig.simulator.documents(invoice)).toHaveLength(1);
    expect(JSON.stringify(rig.logged)).not.toContain("cmp_sk_");
  });

  test("that lacks one permission stops only the calls that need it", async () => {
    rig.logged.length = 0;
    const scopes = ["sales:read", "catalog:read", "catalog:write", "stock:write"] as const;
    rig.simulator.setKey("cmp_sk_test_simulator", { scopes: [...scopes] });
    const { handles, invoices } = await parkedSales("FORBIDDEN");
    expect(rig.simulator.calls({ operation: "createSale", status: 403 }).length).toBeLessThanOrEqual(AT_ONCE);
    expect(rig.logged).toMatchObject([{ level: "warn", fields: { operation: "createSale", status: 403 } }]);
    rig.simulator.setKey("cmp_sk_test_simulator", { scopes: [...scopes, "sales:write"] });
    await Promise.all(invoices.map(retry));
    for (const handle of handles) expect(await handle.result()).toMatchObject({ stage: "completed" });
    expect(rig.logged).toMatchObject([{ level: "warn" }, { level: "info" }]);
  });
});
