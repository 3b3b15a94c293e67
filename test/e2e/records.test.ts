import { afterAll, beforeAll, expect, test } from "vitest";

import type { BusinessReport } from "../../src/ledger/index.ts";
import { type OutsideClient, openOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { asOwner } from "../rig/fresh-database.ts";
import { inCents, sumsOf } from "../scale/book-sums.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { findingsIn } from "../rig/findings-in.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/** Decision 22: what must be kept for years, by who has the answer. */
describeWithTemporal("the records of sales and credit notes", () => {
  let rig: Rig;
  let outside: OutsideClient;
  beforeAll(async () => {
    rig = await startRig();
    outside = openOutsideClient(asOwner(rig.config.ledger.url?.reveal() ?? ""));
  });
  afterAll(async () => {
    await outside?.end();
    await rig?.close();
  });
  const { start, handleOf, parked, result } = salesOf(() => rig);

  async function eventsOf(subject: string): Promise<{ kind: string; content: Record<string, unknown> }[]> {
    const { rows } = await outside.query<{ kind: string; content: string }>(
      "select kind, content from events where subject = $1 order by number",
      [subject],
    );
    return rows.map(({ kind, content }) => ({ kind, content: JSON.parse(content) as Record<string, unknown> }));
  }

  const kindsOf = async (subject: string): Promise<string[]> => (await eventsOf(subject)).map(({ kind }) => kind);

  async function reportOfAll(): Promise<BusinessReport | undefined> {
    const period = { kind: "month", from: "2000-01-01", to: "2100-01-01" } as const;
    const [report] = await rig.ledger.reports.read({ period });
    return report;
  }

  async function refund(invoice: string, restock: boolean) {
    const request = { reason: "06", traderInvoiceNumber: `CN-${invoice}`, restock } as const;
    return await rig.starter.refund({ invoice }, request, { waitSeconds: 20 });
  }

  test("are opened, taken and settled with the answer, for a sale that is accepted at once", async () => {
    await (await start("PLAIN-1")).result();
    expect(await kindsOf("sale PLAIN-1")).toEqual([
      "document-saved",
      "document-taken",
      "document-created",
      "document-saved",
    ]);
  });

  test("equal the simulator's books, whatever the documents' outcomes", async () => {
    rig.simulator.setAuthority("BOOK-CALLBACK", [{ do: "accept", afterMs: 200 }]);
    rig.simulator.setAuthority("BOOK-REJECTED", [{ do: "reject", reason: "no" }]);
    const flour = { itemId: "item_flour", quantity: 1.5, unitPrice: 210.55 };
    const numbers = Array.from({ length: 12 }, (_, n) => `BOOK-${n}`);
    for (const [n, number] of numbers.entries())
      await start(number, { lines: [{ ...TEA, quantity: n + 1 }, flour], refundWindow: n % 3 === 0 ? "1 hour" : "0" });
    await start("BOOK-CALLBACK", { lines: [TEA, TEA] });
    await start("BOOK-REJECTED");
    await parked("BOOK-REJECTED", "rejected");
    for (const [n, number] of numbers.entries()) {
      if (n % 2 === 0) await refund(number, n % 4 === 0);
    }
    await rig.starter.cancel({ invoice: "BOOK-REJECTED" }, { reason: "sold elsewhere" });
    for (const number of numbers.filter((_, n) => n % 6 === 3)) await handleOf(number).cancel();
    for (const number of [...numbers, "BOOK-CALLBACK", "BOOK-REJECTED"]) await result(number);

    const { documents, movements } = rig.simulator.books();
    const report = await reportOfAll();
    for (const [kind, sums] of [
      ["sale", report?.sales],
      ["credit_note", report?.creditNotes],
      ["both", report?.net],
    ] as const) {
      const amounts = { total: inCents(sums?.total ?? ""), taxableAmount: inCents(sums?.taxableAmount ?? "") };
      expect({ count: sums?.count, ...amounts, taxAmount: inCents(sums?.taxAmount ?? "") }).toEqual(
        sumsOf(documents, kind, "2000-01-01", "2100-01-01"),
      );
    }
    expect(report?.creditNotes.count).toBe(6);
    expect(report?.open).toEqual([]);
    const { rows } = await outside.query<{ movement_id: string }>(
      "select outcome ->> 'movementId' as movement_id from movements where state = 'applied' order by 1",
    );
    expect(rows.map(({ movement_id }) => movement_id)).toEqual(
      movements.map(({ movementId }) => movementId).toSorted(),
    );
    const writers = await outside.query(
      "select distinct type, split_part(workflow_id, '/', 1) as writer from documents order by 1",
    );
    expect(writers.rows).toEqual([
      { type: "credit_note", writer: "sale" },
      { type: "sale", writer: "sale" },
    ]);
  });

  test("keep what an operator was needed for, since when, and what was decided", async () => {
    await start("NEEDED-1", { lines: [{ sku: "NOT-THERE", quantity: 2, unitPrice: 100.25 }] });
    await parked("NEEDED-1", "item-unknown");
    await expect
      .poll(async () => (await reportOfAll())?.open)
      .toMatchObject([{ number: "NEEDED-1", atRisk: "200.5", attentions: [{ code: "item-unknown" }] }]);
    await rig.starter.retry({ invoice: "NEEDED-1" }, { note: "looked again", by: "a@b" });
    await parked("NEEDED-1", "item-unknown");
    await rig.starter.cancel({ invoice: "NEEDED-1" }, { reason: "mistyped" });
    await result("NEEDED-1");
    const events = await eventsOf("sale NEEDED-1");
    const raised = events.filter(({ kind }) => kind === "attention-raised");
    const cleared = events.filter(({ kind }) => kind === "attention-cleared");
    expect(raised.map(({ content }) => content["sinceMs"])).toEqual(cleared.map(({ content }) => content["sinceMs"]));
    expect(raised.length).toBeGreaterThanOrEqual(2);
    expect(events.filter(({ kind }) => kind === "decided")).toMatchObject([
      { content: { note: "looked again", by: "a@b" } },
      { content: { update: "cancel", note: "mistyped", by: expect.stringContaining("@") as string } },
    ]);
    expect((await reportOfAll())?.open).toEqual([]);
  });

  test("verify in every row", async () => {
    expect(await findingsIn(rig.ledger)).toEqual([]);
  });
});
