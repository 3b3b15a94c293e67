import { describe, expect, test } from "vitest";

import type { AwaitDocumentRequest } from "../../src/contract/index.ts";
import { saleRequest, soldTea } from "../test-support/requests.ts";
import { failureOf, inActivity, serve, type Served, START_MS } from "../test-support/served.ts";

const MINUTE_MS = 60_000;

const wait = (served: Served, saleId: string, more: Partial<AwaitDocumentRequest> = {}) =>
  served.activities.awaitDocument({
    ...saleRequest(saleId),
    sinceMs: START_MS,
    firstPollMs: 5_000,
    knownStatus: "pending",
    ...more,
  });

/** The document as the API shows it, in a status that its document does not list. */
async function inStrangeStatus(status: string): Promise<{ served: Served; saleId: string }> {
  const served = await serve();
  const saleId = await soldTea(served, "INV-1");
  const [{ id, type, traderInvoiceNumber, lines, totals, receipt } = {}] = served.simulator.documents("INV-1");
  const body = { data: { sale: { id, type, status, traderInvoiceNumber, lines, totals, receipt } } };
  served.simulator.inject({ operation: "readSale", when: "before", kind: "status", status: 200, body });
  return { served, saleId };
}

describe("the wait for a document", () => {
  test.each(["pending", "ready_to_submit", "retrying"] as const)("goes on while the document is %s", async (status) => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    served.simulator.setDocumentStatus(saleId, status);
    expect(await failureOf(() => wait(served, saleId))).toMatchObject({
      type: "StillWaiting",
      retryable: true,
      benign: true,
      message: `Still waiting; each attempt is one look. The document is ${status}.`,
    });
  });

  test("goes on while the document is completed but has no receipt", async () => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    served.simulator.setDocumentStatus(saleId, "completed", { receipt: null });
    expect(await failureOf(() => wait(served, saleId))).toMatchObject({ type: "StillWaiting", benign: true });
  });

  test.each(["completed", "failed", "cancelled"] as const)("ends when the document is %s", async (status) => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    served.simulator.setDocumentStatus(saleId, status);
    expect(await inActivity(() => wait(served, saleId))).toMatchObject({ kind: "document", document: { status } });
  });

  test.each(["failed", "cancelled"] as const)(
    "ends when the document is %s, although that is known already",
    async (status) => {
      const served = await serve();
      const saleId = await soldTea(served, "INV-1");
      served.simulator.setDocumentStatus(saleId, status);
      expect(await inActivity(() => wait(served, saleId, { knownStatus: status }))).toMatchObject({ kind: "document" });
    },
  );

  test("ends when the document's status is none of the six, so that it is shown", async () => {
    const { served, saleId } = await inStrangeStatus("archived");
    expect(await inActivity(() => wait(served, saleId, { knownStatus: "pending" }))).toMatchObject({
      document: { status: "archived" },
    });
  });

  test("goes on while an undocumented status is the one that is known already", async () => {
    const { served, saleId } = await inStrangeStatus("archived");
    expect(await failureOf(() => wait(served, saleId, { knownStatus: "archived" }))).toMatchObject({
      type: "StillWaiting",
      benign: true,
    });
  });

  test.each(["archived", "retrying"])("goes on at the status %s after another strange one", async (status) => {
    const { served, saleId } = await inStrangeStatus(status);
    const asked = { knownStatus: "frozen" };
    expect(await failureOf(() => wait(served, saleId, asked))).toMatchObject({ type: "StillWaiting", benign: true });
  });

  test("ends at an undocumented status after one without its receipt", async () => {
    const { served, saleId } = await inStrangeStatus("archived");
    expect(await inActivity(() => wait(served, saleId, { knownStatus: "completed" }))).toMatchObject({
      document: { status: "archived" },
    });
  });

  test("goes on where the document is in flight again after it had no receipt", async () => {
    const { served, saleId } = await inStrangeStatus("retrying");
    const asked = { knownStatus: "completed" };
    expect(await failureOf(() => wait(served, saleId, asked))).toMatchObject({ type: "StillWaiting", benign: true });
  });

  test("begins a pause after the last reading, without a call", async () => {
    const served = await serve();
    served.dice.next = 0.5;
    const saleId = await soldTea(served, "INV-1");
    const reads = (): number => served.simulator.calls({ operation: "readSale" }).length;
    const asked = { readAtMs: START_MS + 60_000 };
    const scheduledAtMs = START_MS + 62_000;
    const failure = await failureOf(() => wait(served, saleId, asked), { scheduledAtMs });
    expect(failure).toMatchObject({ type: "StillWaiting", pauseMs: Math.round(62_000 / 6) - 2_000 });
    expect(reads()).toBe(0);
    await inActivity(() => wait(served, saleId, { readAtMs: START_MS }), { scheduledAtMs });
    expect(reads()).toBe(1);
  });

  test("reads the document after the first pause, then ever less often as it ages", async () => {
    const served = await serve();
    served.dice.next = 0.5;
    const saleId = await soldTea(served, "INV-1");
    served.simulator.setDocumentStatus(saleId, "pending");
    const pauses: number[] = [];
    for (const ageMs of [0, 2 * MINUTE_MS, 60 * MINUTE_MS, 3 * 24 * 60 * MINUTE_MS]) {
      const failure = await failureOf(() => wait(served, saleId), { scheduledAtMs: START_MS + ageMs });
      pauses.push(failure.pauseMs);
    }
    expect(pauses).toEqual([5_000, 20_000, 10 * MINUTE_MS, 3 * 60 * MINUTE_MS]);
  });

  test("takes its first pause from its caller", async () => {
    const served = await serve();
    served.dice.next = 0.5;
    const saleId = await soldTea(served, "INV-1");
    served.simulator.setDocumentStatus(saleId, "pending");
    expect((await failureOf(() => wait(served, saleId, { firstPollMs: 1_234 }))).pauseMs).toBe(1_234);
  });

  test("ends with a refusal where the document does not exist", async () => {
    const served = await serve();
    expect(await inActivity(() => wait(served, "sale_gone"))).toMatchObject({
      kind: "refused",
      attention: "not-found",
    });
  });

  test("ends with a refusal where the key is refused", async () => {
    const served = await serve();
    served.simulator.setApplication("simulator", { suspended: true });
    expect(await inActivity(() => wait(served, "sale_1"))).toMatchObject({ attention: "credentials" });
  });

  test("goes on through an outage of the API", async () => {
    const served = await serve();
    served.simulator.inject({ operation: "readSale", when: "before", kind: "drop" });
    expect(await failureOf(() => wait(served, "sale_1"))).toMatchObject({ type: "Transient", retryable: true });
  });
});
