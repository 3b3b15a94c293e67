import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput, SaleOutcome } from "../../src/contract/index.ts";
import { openOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { asOwner } from "../rig/fresh-database.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a callback", () => {
  let rig: Rig;
  beforeAll(async () => {
    // No look comes early unless something asks for it.
    rig = await startRig({ simulator: { callbackRetryDelaysMs: [] }, timings: { firstPollWithCallbackMs: 600_000 } });
  });
  afterAll(() => rig?.close());

  async function start(traderInvoiceNumber: string, more: Partial<SaleInput> = {}) {
    const lines = [{ itemId: "item_delivery", quantity: 1, unitPrice: 200 }];
    const { workflowId } = await rig.starter.startSale({ traderInvoiceNumber, lines, refundWindow: "0", ...more });
    return rig.client.workflow.getHandle<(input: SaleInput) => Promise<SaleOutcome>>(workflowId);
  }

  function reads(invoice: string): number {
    return rig.callsOf(invoice).filter((operation) => operation === "readSale").length;
  }

  /** As the service was given it. */
  function urlOf(invoice: string): string {
    return rig.simulator.documents(invoice)[0]?.callback?.url ?? "";
  }

  test("keeps its URL out of outcomes, states, the ledger and all events except the create request's", async () => {
    rig.simulator.setAuthority("SECRET-1", [{ do: "accept", afterMs: 100 }]);
    const handle = await start("SECRET-1");
    const outcome = await handle.result();
    expect(outcome.sale?.callback).toMatchObject({ status: expect.any(String), attempts: expect.any(Number) });
    const token = new URL(urlOf("SECRET-1")).pathname.split("/").at(-1) ?? "";
    expect(token.length).toBeGreaterThan(20);
    expect(JSON.stringify([outcome, await rig.starter.getSale({ invoice: "SECRET-1" })])).not.toContain(token);

    const outside = openOutsideClient(asOwner(rig.config.ledger.url?.reveal() ?? ""));
    const tables = await outside.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    for (const { name } of tables.rows) {
      const { rows } = await outside.query(`select '${name}' as "table", t::text as row from ${name} t`);
      expect(JSON.stringify(rows)).not.toContain(token);
    }
    await outside.end();

    const { events = [] } = await handle.fetchHistory();
    const telling = events?.flatMap((event) => {
      const scheduled = event.activityTaskScheduledEventAttributes;
      const payloads = (scheduled?.input ?? event.activityTaskCompletedEventAttributes?.result)?.payloads ?? [];
      const isTelling = payloads.some(({ data }) =>
        Buffer.from(data ?? [])
          .toString("utf8")
          .includes(token),
      );
      return isTelling ? [scheduled?.activityType?.name ?? "completed"] : [];
    });
    expect(telling).toEqual(["completed", "createSale"]);
    expect(JSON.stringify(events)).not.toContain(token);
  });

  test("that comes twice causes one read, and one after the end causes none", async () => {
    rig.simulator.setAuthority("TWICE-1", [{ do: "accept", afterMs: 100 }]);
    const handle = await start("TWICE-1");
    await handle.result();
    expect(reads("TWICE-1")).toBe(1);
    const [document] = rig.simulator.documents("TWICE-1");
    rig.simulator.redeliver(document?.id ?? "");
    const { callback } = await rig.simulator.callbackSettled(document?.id ?? "");
    expect(callback).toMatchObject({ status: "delivered", lastResponseStatus: 202 });
    expect(reads("TWICE-1")).toBe(1);
  });

  test("that comes again and again is followed at once at first, then ever more rarely", async () => {
    const invoice = "AGAIN-1";
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    const handle = await start(invoice);
    await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
    const { historyLength: before } = await handle.describe();
    const sentAtMs = Date.now();
    await handle.signal("callbackReceived", {});
    await rig.simulator.until(() => reads(invoice) === 1);
    expect(Date.now() - sentAtMs).toBeLessThan(5_000);
    const CALLBACKS = 60;
    for (let sent = 2; sent <= CALLBACKS; sent++) {
      await handle.signal("callbackReceived", {});
      await rig.stateWhen(invoice, ({ callbacksReceived }) => callbacksReceived === sent);
    }
    expect(reads(invoice)).toBeLessThan(15);
    // A signal and its workflow task are four events, and a read is a dozen.
    const { historyLength } = await handle.describe();
    expect(historyLength - before).toBeLessThan(CALLBACKS * 4 + 15 * 14);
    // The last one is not forgotten, only followed later.
    rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
    expect(await handle.result()).toMatchObject({ stage: "completed" });
  });

  test("that comes before the outcome changes only when the sale is read", async () => {
    rig.simulator.setAuthority("FORGED-1", [{ do: "down" }]);
    const handle = await start("FORGED-1");
    await rig.stateWhen("FORGED-1", ({ stage }) => stage === "awaiting-authority");
    const url = urlOf("FORGED-1");
    const forged = { event: "sale.completed", sale: { status: "completed", receipt: { cuInvoiceNo: "FAKE" } } };
    expect((await fetch(url, { method: "POST", body: JSON.stringify(forged) })).status).toBe(202);
    const state = await rig.stateWhen("FORGED-1", ({ callbacksReceived }) => callbacksReceived === 1);
    await rig.simulator.until(() => reads("FORGED-1") === 1);
    expect(state.document).toMatchObject({ status: "pending", receipt: null });
    rig.simulator.setAuthority("FORGED-1", [{ do: "accept" }]);
    expect((await handle.result()).receipt?.cuInvoiceNo).not.toBe("FAKE");
  });

  test("that is repeated a thousand times is accepted each time, and reaches its run a few times", async () => {
    rig.simulator.setAuthority("STORM-1", [{ do: "down" }]);
    const handle = await start("STORM-1");
    await rig.stateWhen("STORM-1", ({ stage }) => stage === "awaiting-authority");
    const url = urlOf("STORM-1");
    const statuses = new Set<number>();
    for (let round = 0; round < 20; round += 1) {
      const posts = Array.from({ length: 50 }, () => fetch(url, { method: "POST", body: "{}" }));
      for (const { status } of await Promise.all(posts)) statuses.add(status);
    }
    expect([...statuses]).toEqual([202]);
    expect((await rig.stateWhen("STORM-1", () => true)).callbacksReceived).toBeLessThan(10);
    rig.simulator.setAuthority("STORM-1", [{ do: "accept" }]);
    expect(await handle.result()).toMatchObject({ stage: "completed" });
  });

  test("with a token of another sale, or of none, is answered 404 and reaches no workflow", async () => {
    rig.simulator.setAuthority("TOKEN-1", [{ do: "down" }]);
    const handle = await start("TOKEN-1");
    await rig.stateWhen("TOKEN-1", ({ stage }) => stage === "awaiting-authority");
    const url = urlOf("TOKEN-1");
    const last = url.at(-1) === "A" ? "B" : "A";
    expect((await fetch(url.slice(0, -1) + last, { method: "POST" })).status).toBe(404);
    expect((await rig.starter.getSale({ invoice: "TOKEN-1" })).callbacksReceived).toBe(0);
    rig.simulator.setAuthority("TOKEN-1", [{ do: "accept" }]);
    await handle.result();
  });

  test("that is lost leaves the sale to polling, which begins at once when the document says that delivery failed", async () => {
    rig.simulator.pauseCallbacks();
    rig.simulator.setAuthority("LOST-1", [{ do: "down" }]);
    const handle = await start("LOST-1");
    await rig.stateWhen("LOST-1", ({ stage }) => stage === "awaiting-authority");
    const [issued] = rig.simulator.documents("LOST-1");
    const callback = { ...issued?.callback, status: "failed" };
    const failed = { data: { sale: { ...issued, callback } } };
    rig.simulator.inject({ operation: "readSale", when: "after", kind: "status", status: 200, body: failed, times: 1 });
    await fetch(issued?.callback?.url ?? "", { method: "POST" });
    await rig.simulator.until(() => reads("LOST-1") >= 2);
    rig.simulator.setAuthority("LOST-1", [{ do: "accept" }]);
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    rig.simulator.resumeCallbacks();
  });

  test("that arrives before the answer to the create request is used", async () => {
    rig.simulator.setAuthority("OVERTAKING-1", [{ do: "accept", afterMs: 0 }]);
    rig.simulator.inject({
      operation: "createSale",
      when: "after",
      kind: "slow",
      delayMs: 700,
      match: { invoice: "OVERTAKING-1" },
      times: 1,
    });
    const handle = await start("OVERTAKING-1");
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    expect(reads("OVERTAKING-1")).toBe(1);
  });
});
