import { describe, expect, test } from "vitest";

import type { ReadDocumentRequest, ReadDocumentResult } from "../../src/contract/index.ts";
import type { Fault } from "../../src/dev/simulator/index.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { createDocumentActivities } from "./documents.ts";
import { saleRequest, soldTea } from "../test-support/requests.ts";
import { failureOf, inActivity, serve, type Served } from "../test-support/served.ts";

const at = (fault: Omit<Fault, "operation">): Fault => ({ operation: "readSale", ...fault });
const read = (served: Served, saleId: string): Promise<ReadDocumentResult> =>
  inActivity(() => served.activities.readDocument(saleRequest(saleId)));

describe("reading a document", () => {
  test.each(["pending", "retrying", "completed", "failed", "cancelled"] as const)(
    "gives it in whatever status it has: %s",
    async (status) => {
      const served = await serve();
      const saleId = await soldTea(served, "INV-1");
      served.simulator.setDocumentStatus(saleId, status);
      expect(await read(served, saleId)).toMatchObject({ kind: "document", document: { id: saleId, status } });
    },
  );

  test("of an id that does not exist is not found", async () => {
    const served = await serve();
    expect(await read(served, "sale_gone")).toMatchObject({
      kind: "refused",
      attention: "not-found",
      status: 404,
      message: expect.stringMatching(/ It was asked for the business "biz_1"\.$/),
    });
  });

  test("requests the document with exactly that id, whatever characters it has", async () => {
    const served = await serve();
    await read(served, "a/b?c#d e");
    expect(served.simulator.calls({ operation: "readSale" })[0]?.path).toContain("a%2Fb%3Fc%23d%20e");
  });

  test.each([".", "..", ""])("sends nothing for %j, which is no id", async (saleId) => {
    const served = await serve();
    expect(await read(served, saleId)).toMatchObject({ kind: "refused", attention: "invalid-request" });
    expect(served.simulator.calls()).toEqual([]);
  });

  test("parks on the key after a 401", async () => {
    const served = await serve();
    served.simulator.setApplication("simulator", { suspended: true });
    expect(await read(served, "sale_1")).toMatchObject({ kind: "refused", attention: "credentials" });
  });

  test.each<[string, Omit<Fault, "operation">]>([
    ["a connection that breaks", { when: "before", kind: "drop" }],
    ["half a body", { when: "after", kind: "half-body" }],
    ["a proxy's page", { when: "after", kind: "not-json" }],
    ["an answer of wrong types", { when: "after", kind: "wrong-types" }],
    ["a 503", { when: "before", kind: "status", status: 503 }],
    ["a proxy's 422 without an envelope", { when: "before", kind: "status", status: 422, body: "oops" }],
  ])("is tried again after %s", async (_what, fault) => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    served.simulator.inject(at({ ...fault, times: 1 }));
    expect(await failureOf(() => served.activities.readDocument(saleRequest(saleId)))).toMatchObject({
      type: "Transient",
      retryable: true,
      pauseMs: 1_000,
    });
    expect(await read(served, saleId)).toMatchObject({ kind: "document" });
  });

  test("is tried again where no connection could be made", async () => {
    const served = await serve();
    await served.simulator.close();
    expect(await failureOf(() => served.activities.readDocument(saleRequest("sale_1")))).toMatchObject({
      type: "Transient",
      retryable: true,
    });
  });

  test("is deferred by the quota, for no less than Retry-After", async () => {
    const served = await serve();
    served.simulator.inject(at({ when: "before", kind: "rate-limit", retryAfterSeconds: 12 }));
    expect(await failureOf(() => served.activities.readDocument(saleRequest("sale_1")))).toMatchObject({
      type: "Deferred",
      benign: true,
      pauseMs: 12_000,
    });
  });
});

describe("a document that is read for its row", () => {
  const business = { connection: "default", businessId: "biz_1" };
  /** Reads a sale whose row knows nothing of it yet. */
  const looking = async (
    served: Served,
    number: string,
    status: "pending" | "completed",
    more: Partial<ReadDocumentRequest> = {},
  ) => {
    const saleId = await soldTea(served, `ELSEWHERE-${number}`);
    served.simulator.setDocumentStatus(saleId, status);
    const request = { ...saleRequest(saleId, number), ...more };
    return await inActivity(() => served.activities.readDocument(request));
  };
  const kept = async ({ context: { ledger } }: Served, number: string) =>
    (await ledger.documents.findSale(business, number))?.record;

  test("is written into it, whatever its status", async () => {
    const served = await serve();
    await looking(served, "LOOK-1", "pending");
    expect(await kept(served, "LOOK-1")).toMatchObject({
      stage: "awaiting-authority",
      document: { status: "pending" },
    });
    await looking(served, "LOOK-2", "completed");
    expect(await kept(served, "LOOK-2")).toMatchObject({ stage: "completed", document: { status: "completed" } });
  });

  test("is not, if it belongs to none, or may be another's and is not as expected", async () => {
    const served = await serve();
    await looking(served, "LOOK-3", "completed", { of: undefined });
    const expected = { type: "sale", traderInvoiceNumber: "LOOK-3" };
    const another = { expected, mayBeAnothers: true } as const;
    expect(await looking(served, "LOOK-5", "completed", another)).toMatchObject({
      kind: "document",
      differences: ["traderInvoiceNumber: expected LOOK-3, found ELSEWHERE-LOOK-5"],
    });
    for (const number of ["LOOK-3", "LOOK-5"]) expect(await kept(served, number)).toBeUndefined();
  });

  test("is, if it is known to be the row's, and the answer says where it is not as expected", async () => {
    const served = await serve();
    const expected = { type: "sale", lines: [{ itemId: "item_tea", quantity: 3, unitPrice: 350 }] };
    const of = { type: "sale", number: "LOOK-6", expectedTotal: 1_050 } as const;
    expect(await looking(served, "LOOK-6", "completed", { expected, of })).toMatchObject({
      differences: ["lines[0]: expected 3 of item_tea at 350, found 2 of item_tea at 350"],
      totalDiffers: "totals.total: expected 1050, found 700",
    });
    expect(await kept(served, "LOOK-6")).toMatchObject({ document: { status: "completed" } });
  });

  test("is given back where the ledger is away, which the answer says", async () => {
    const served = await serve();
    const { ledger } = served.context;
    const away = () => Promise.reject(new LedgerUnavailableError("away"));
    const documents = { ...ledger.documents, answered: away };
    const context = { ...served.context, ledger: { ...ledger, documents } };
    const saleId = await soldTea(served, "LOOK-4");
    const activities = createDocumentActivities(context);
    expect(await inActivity(() => activities.readDocument(saleRequest(saleId, "LOOK-4")))).toMatchObject({
      document: { id: saleId },
      unsettled: true,
    });
  });
});
