import { describe, expect, test } from "vitest";

import type { PageRequest } from "../../src/contract/index.ts";
import type { NewPurchase } from "../../src/dev/simulator/index.ts";
import { failureOf, inActivity, serve, type Served } from "../test-support/served.ts";

const SCOPE = { connection: "default", businessId: "biz_1" };

function purchaseOf(n: number, more: Partial<NewPurchase> = {}): NewPurchase {
  return {
    id: `p${String(n).padStart(3, "0")}`,
    businessId: "biz_1",
    supplier: { name: "Mill", pin: "P1" },
    supplierInvoiceNumber: `S-${n}`,
    invoiceDate: "2026-11-01",
    totals: { subtotal: 100, vat: 16, total: 116 },
    ...more,
  };
}

async function serveWith(count: number, options: Parameters<typeof serve>[0] = {}): Promise<Served> {
  const purchases = Array.from({ length: count }, (_, n) => purchaseOf(n, n === 0 ? { status: "confirmed" } : {}));
  return serve({ ...options, simulator: { scenario: { purchases }, ...options.simulator } });
}

const asking = (more: PageRequest = {}) => ({ ...SCOPE, ...more });
const keep = (served: Served, more: PageRequest = {}) =>
  inActivity(() => served.activities.keepPurchasesPage(asking(more)));
const kept = (served: Served) => served.context.ledger.purchases.page(SCOPE, { most: 1_000 });

describe("a page of purchases", () => {
  test("is kept by the activity that reads it, which returns only counts and the next cursor", async () => {
    const served = await serveWith(130);
    const first = await keep(served);
    expect(first).toEqual({
      kind: "page",
      rows: 100,
      added: 100,
      changed: 0,
      known: false,
      askedAtMs: expect.any(Number) as number,
      nextCursor: expect.any(String) as string,
      fingerprint: expect.any(String) as string,
    });
    const cursor = first.kind === "page" ? (first.nextCursor ?? undefined) : undefined;
    expect(await keep(served, { cursor })).toMatchObject({ rows: 30, nextCursor: null });
    expect(await kept(served)).toHaveLength(130);
    expect(served.simulator.calls({ operation: "listPurchases" })).toHaveLength(2);
  });

  test("is filtered by status or by days where that is requested", async () => {
    const served = await serveWith(3);
    expect(await keep(served, { status: "pulled" })).toMatchObject({ rows: 2 });
    expect(await keep(served, { status: "pending_review" })).toMatchObject({ rows: 0 });
    expect(await keep(served, { from: "2026-11-02", to: "2026-11-03" })).toMatchObject({ rows: 0 });
  });

  test.each([
    ["status", { status: "pulled" }, 'Invoices that are `pulled` were asked for, and "p000" is `confirmed`'],
    ["from", { from: "2026-11-02", to: "2026-11-02" }, "Invoices of 2026-11-02 and later were asked for"],
    ["to", { from: "2026-10-31", to: "2026-10-31" }, "Invoices of 2026-10-31 and earlier were asked for"],
  ] as const)("of a service that ignores the name of the filter `%s` is not kept", async (name, asked, message) => {
    const served = await serveWith(3, {
      simulator: { refuseUnknownFields: false },
      dialect: { purchases: { [name]: "unheardOf" } },
    });
    expect(await keep(served, asked)).toMatchObject({
      kind: "refused",
      attention: "unexpected-answer",
      message: expect.stringContaining(message) as string,
    });
    expect(await keep(served, asked)).toMatchObject({
      message: expect.stringContaining(`look at purchases.${name} of COMPLIANCE_DIALECT`) as string,
    });
    expect(await kept(served)).toEqual([]);
  });

  test("with dates that do not exist is kept, and they are counted and named", async () => {
    const served = await serveWith(4);
    for (const [n, invoiceDate] of ["0000-00-00", "2026-11-31", "2026-13-45"].entries())
      served.simulator.showOddly(`p00${n + 1}`, { invoiceDate });
    expect(await keep(served)).toMatchObject({ kind: "page", rows: 4 });
    expect(await keep(served, { from: "2026-11-01", to: "2026-11-01" })).toMatchObject({ kind: "page", rows: 4 });
    const observation = {
      kind: "odd-row",
      subject: "purchases: invoiceDate is no date",
      message: expect.stringMatching(/^3 of 4 purchases .* the first is "p00[123]"$/) as string,
    };
    expect(served.observed).toMatchObject([observation, observation]);
  });

  test("of a service that ignores the page size is kept, with an observation", async () => {
    const served = await serveWith(3, {
      simulator: { refuseUnknownFields: false },
      dialect: { purchases: { pageSize: "unheardOf" } },
    });
    expect(await keep(served)).toMatchObject({ kind: "page", rows: 3 });
    expect(served.observed).toMatchObject([{ kind: "ignored", subject: "purchases.pageSize", value: "unheardOf" }]);
  });

  test("is identified by its rows", async () => {
    const served = await serveWith(130);
    const fingerprintOf = (page: Awaited<ReturnType<typeof keep>>) => (page.kind === "page" ? page.fingerprint : "");
    const first = await keep(served);
    const cursor = first.kind === "page" ? (first.nextCursor ?? undefined) : undefined;
    expect(fingerprintOf(await keep(served))).toBe(fingerprintOf(first));
    expect(fingerprintOf(await keep(served, { cursor }))).not.toBe(fingerprintOf(first));
  });

  test("is not requested while the ledger is away", async () => {
    const served = await serveWith(1);
    await served.context.ledger.close();
    expect(await failureOf(() => served.activities.keepPurchasesPage(asking()))).toMatchObject({
      type: "LedgerAway",
      retryable: true,
    });
    expect(served.simulator.calls()).toEqual([]);
  });

  test("is tried again through an outage, and after the quota's pause", async () => {
    const served = await serveWith(1);
    served.simulator.inject({ operation: "listPurchases", when: "before", kind: "drop", times: 1 });
    expect(await failureOf(() => served.activities.keepPurchasesPage(asking()))).toMatchObject({ type: "Transient" });
    served.simulator.inject({ operation: "listPurchases", when: "before", kind: "rate-limit", retryAfterSeconds: 7 });
    expect(await failureOf(() => served.activities.keepPurchasesPage(asking()))).toMatchObject({
      type: "Deferred",
      pauseMs: 7_000,
    });
  });

  test("whose cursor is refused returns that as its result", async () => {
    const served = await serveWith(1);
    expect(await keep(served, { cursor: "nonsense" })).toMatchObject({
      kind: "refused",
      attention: "invalid-request",
      status: 400,
    });
  });

  test("that has a next page, while the dialect has no name for the cursor, says so", async () => {
    const served = await serveWith(1, { dialect: { purchases: { cursor: null } } });
    expect(await keep(served, { cursor: "c2" })).toMatchObject({
      kind: "refused",
      attention: "invalid-request",
      message: expect.stringContaining("purchases.cursor") as string,
    });
  });
});

describe("a pull of purchases from the authority", () => {
  test("makes the service fetch the latest purchases", async () => {
    const served = await serveWith(1);
    served.simulator.addPurchase(purchaseOf(9, { stored: false }));
    expect(await inActivity(() => served.activities.pullPurchases(SCOPE))).toEqual({ kind: "pulled" });
    expect(served.simulator.purchases().every(({ stored }) => stored)).toBe(true);
  });

  test("parks on a key without the permission", async () => {
    const served = await serveWith(1);
    served.simulator.setKey("cmp_sk_test_simulator", { scopes: ["sales:read"] });
    expect(await inActivity(() => served.activities.pullPurchases(SCOPE))).toMatchObject({
      kind: "refused",
      attention: "credentials",
      status: 403,
    });
  });
});
