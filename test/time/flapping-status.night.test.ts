import type { WorkflowHandle } from "@temporalio/client";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { WorkflowState } from "../../src/contract/index.ts";
import { type SkippingRig, startSkippingRig } from "../rig/skipping-rig.ts";

interface SaleAnswer {
  data: { sale: { id: string; status: string; traderInvoiceNumber: string } };
}

describe("a status that changes from look to look", () => {
  let rig: SkippingRig;
  const reads = new Map<string, number>();

  /**
   * What two machines of the service answer in turn, one of which may have other words: by the number of the sale's
   * reads. The last two do not change.
   */
  const words: Readonly<Record<string, (read: number) => string>> = {
    "FLAP-1": (read) => (read % 2 === 0 ? "signing" : "pending"),
    "NEW-WORDS-1": (read) => `step-${read}`,
    "KNOWN-WORDS-1": (read) => (read % 2 === 0 ? "retrying" : "pending"),
    "STRANGE-1": () => "signing",
    "QUIET-1": () => "pending",
  };
  /** Each with the one that stays as it is, and costs as much. */
  const pairs = [
    ["FLAP-1", "STRANGE-1"],
    ["NEW-WORDS-1", "STRANGE-1"],
    ["KNOWN-WORDS-1", "QUIET-1"],
  ] as const;

  async function answerTo(
    request: IncomingMessage,
  ): Promise<{ status: number; shown: Map<string, string>; body: string }> {
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) =>
        ["x-api-key", "content-type", "idempotency-key"].includes(name),
      ),
    ) as Record<string, string>;
    const { method = "GET", url = "" } = request;
    const sent = await text(request);
    const answer = await fetch(`${rig.simulator.url}${url}`, { method, headers, body: sent === "" ? null : sent });
    const body = await answer.text();
    const { status } = answer;
    // The quota among them: without it calls would wait for their turn.
    const shown = new Map([...answer.headers].filter(([name]) => !/^(content|transfer|connection)/.test(name)));
    shown.set("content-type", "application/json");
    if (method !== "GET" || !/\/v1\/sales\/[^/?]+/.test(url)) return { status, shown, body };
    const read = JSON.parse(body) as SaleAnswer;
    const { sale } = read.data;
    const invoice = sale.traderInvoiceNumber;
    const before = reads.get(invoice) ?? 0;
    reads.set(invoice, before + 1);
    if (sale.status === "pending") sale.status = words[invoice]?.(before) ?? sale.status;
    return { status, shown, body: JSON.stringify(read) };
  }

  const proxy = createServer((request, response) => {
    // Who asked has gone, or the simulator has, as the test ends.
    const cut = (): unknown => response.destroy();
    void answerTo(request).then(
      ({ status, shown, body }) => response.setHeaders(shown).writeHead(status).end(body),
      cut,
    );
  });

  beforeAll(async () => {
    await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
    const address = proxy.address();
    const port = typeof address === "object" ? address?.port : undefined;
    rig = await startSkippingRig({ COMPLIANCE_BASE_URL: `http://127.0.0.1:${port}` });
  });
  afterAll(async () => {
    await rig?.close();
    proxy.close();
  });

  const sales = new Map<string, WorkflowHandle>();

  async function seen(invoice: string) {
    const handle = sales.get(invoice);
    if (!handle) throw new Error(invoice);
    const { attentions } = await handle.query<WorkflowState>("state");
    const codes = attentions.map(({ code }) => code);
    const events = (await handle.fetchHistory()).events ?? [];
    const types = events.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
    const notes = types.filter((type) => type === "noteRun").length;
    // What comes before depends on what the worker knows of the items by then.
    const waiting = events.length - types.indexOf("createSale");
    return { reads: reads.get(invoice) ?? 0, events: waiting, notes, codes };
  }

  test("is read no more often in an hour than one that stays, and costs no more history", async () => {
    for (const invoice of Object.keys(words)) {
      rig.simulator.setAuthority(invoice, [{ do: "down" }]);
      sales.set(invoice, await rig.startSale(invoice, { refundWindow: "0", stock: "off" }));
    }
    await rig.env.sleep("55 minutes");
    const quiet = await seen("QUIET-1");
    expect(quiet.reads).toBeGreaterThan(20);
    expect(quiet.codes).toEqual([]);
    for (const [invoice, steady] of pairs) {
      const [flapping, staying] = [await seen(invoice), await seen(steady)];
      expect(flapping.codes, invoice).toEqual(steady === "STRANGE-1" ? ["unexpected-answer"] : []);
      // Jitter of a tenth.
      expect(flapping.reads, invoice).toBeLessThanOrEqual(Math.ceil(quiet.reads * 1.1));
      expect(flapping.events, invoice).toBe(staying.events);
    }
  });

  test("is shown once, whatever else has the document read, and not again after somebody took note of it", async () => {
    const twoCallbacks = async (): Promise<void> => {
      for (const invoice of ["FLAP-1", "FLAP-1", "STRANGE-1", "STRANGE-1"]) {
        const before = reads.get(invoice) ?? 0;
        await sales.get(invoice)?.signal("callbackReceived", {});
        await expect.poll(() => reads.get(invoice) ?? 0).toBeGreaterThan(before);
      }
    };
    // The authority is slow by then.
    await rig.env.sleep("15 minutes");
    await twoCallbacks();
    const codes = ["unexpected-answer", "authority-slow"];
    await expect.poll(() => seen("FLAP-1")).toMatchObject({ codes, notes: 1 });
    expect(await seen("STRANGE-1")).toMatchObject({ codes, notes: 1 });
    const note = "asked the service";
    for (const invoice of ["FLAP-1", "STRANGE-1"])
      await sales.get(invoice)?.executeUpdate("acknowledge", { args: [{ code: "unexpected-answer", note }] });
    await twoCallbacks();
    await rig.env.sleep("15 minutes");
    for (const invoice of ["FLAP-1", "STRANGE-1"])
      expect(await seen(invoice), invoice).toMatchObject({ codes: ["authority-slow"], notes: 2 });
  });

  test("completes all the same", async () => {
    for (const [invoice, handle] of sales) {
      rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
      expect(await handle.result()).toMatchObject({ stage: "completed" });
      await rig.replayed(handle);
    }
  });
});
