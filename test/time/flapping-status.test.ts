import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";

import type { WorkflowState } from "../../src/contract/index.ts";
import { describeSkippingTime, type SkippingRig, startSkippingRig } from "../rig/skipping-rig.ts";

interface SaleAnswer {
  data: { sale: { id: string; status: string; traderInvoiceNumber: string } };
}

describeSkippingTime("a status that changes from look to look", () => {
  let rig: SkippingRig;
  const reads = new Map<string, number>();

  /** Two machines of the service answer in turn, and one of them has other words: by the number of the sale's reads. */
  const words: Readonly<Record<string, (read: number) => string>> = {
    "FLAP-1": (read) => (read % 2 === 0 ? "signing" : "pending"),
    "NEW-WORDS-1": (read) => `step-${read}`,
    "QUIET-1": () => "pending",
  };

  async function answerTo(request: IncomingMessage): Promise<{ status: number; body: string }> {
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) =>
        ["x-api-key", "content-type", "idempotency-key"].includes(name),
      ),
    ) as Record<string, string>;
    const { method = "GET", url = "" } = request;
    const sent = await text(request);
    const answer = await fetch(`${rig.simulator.url}${url}`, { method, headers, body: sent === "" ? null : sent });
    const body = await answer.text();
    if (method !== "GET" || !/\/v1\/sales\/[^/?]+/.test(url)) return { status: answer.status, body };
    const read = JSON.parse(body) as SaleAnswer;
    const { sale } = read.data;
    const invoice = sale.traderInvoiceNumber;
    const before = reads.get(invoice) ?? 0;
    reads.set(invoice, before + 1);
    if (sale.status === "pending") sale.status = words[invoice]?.(before) ?? sale.status;
    return { status: answer.status, body: JSON.stringify(read) };
  }

  const proxy = createServer((request, response) => {
    void answerTo(request).then(({ status, body }) => {
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    });
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

  test("is read no more often in an hour than one that stays, is shown once, and adds nothing else to the history", async () => {
    const { env, simulator } = rig;
    const started = [];
    for (const invoice of Object.keys(words)) {
      simulator.setAuthority(invoice, [{ do: "down" }]);
      started.push([invoice, await rig.startSale(invoice, { refundWindow: "0", stock: "off" })] as const);
    }
    const sales = Object.fromEntries(started);
    await env.sleep("55 minutes");
    const seen = async (invoice: string) => {
      const handle = sales[invoice];
      if (!handle) throw new Error(invoice);
      const { attentions } = await handle.query<WorkflowState>("state");
      const codes = attentions.map(({ code }) => code);
      return { reads: reads.get(invoice) ?? 0, events: await rig.eventsOf(handle), codes };
    };
    const quiet = await seen("QUIET-1");
    expect(quiet.reads).toBeGreaterThan(20);
    expect(quiet.codes).toEqual([]);
    for (const invoice of ["FLAP-1", "NEW-WORDS-1"]) {
      const flapping = await seen(invoice);
      expect(flapping.codes).toEqual(["unexpected-answer"]);
      // Jitter of a tenth.
      expect(flapping.reads).toBeLessThanOrEqual(Math.ceil(quiet.reads * 1.1));
      // What shows it, once: an answer, a record and the tasks that take them.
      expect(flapping.events).toBeLessThanOrEqual(quiet.events + 15);
    }
    for (const [invoice, handle] of Object.entries(sales)) {
      simulator.setAuthority(invoice, [{ do: "accept" }]);
      expect(await handle.result()).toMatchObject({ stage: "completed" });
      await rig.replayed(handle);
    }
  });
});
