import { describe, expect, test } from "vitest";

import type { ReadDocumentResult } from "../../src/contract/index.ts";
import type { Fault } from "../../src/dev/simulator/index.ts";
import { recordOf } from "../../src/ledger/test-support/records.ts";
import { currentWriter } from "../ledger/beside-calls.ts";
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
    served.simulator.setApplicationSuspended("simulator", true);
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

describe("a record that is saved with a read of the document", () => {
  const business = { connection: "default", businessId: "biz_1" };
  const looking = async (served: Served, status: "pending" | "completed", record: ReturnType<typeof recordOf>) => {
    const saleId = await soldTea(served, record.number);
    served.simulator.setDocumentStatus(saleId, status);
    const request = { ...saleRequest(saleId), ...business, record: { ...record, document: null } };
    return await inActivity(() => served.activities.readDocument(request));
  };
  const kept = async (served: Served, number: string) =>
    (await served.context.ledger.records.findSale(business, number))?.record;

  test("is saved with the document once that is completed", async () => {
    const served = await serve();
    expect(await looking(served, "completed", recordOf("LOOK-1"))).toMatchObject({ kind: "document", recorded: true });
    expect(await kept(served, "LOOK-1")).toMatchObject({
      document: { status: "completed", receipt: expect.anything() },
    });
  });

  test("is left to the workflow while the document is in flight", async () => {
    const served = await serve();
    expect(await looking(served, "pending", recordOf("LOOK-2"))).not.toHaveProperty("recorded");
    expect(await kept(served, "LOOK-2")).toBeUndefined();
  });

  test("does not replace a newer record that the run has sent meanwhile", async () => {
    const served = await serve();
    const handedOut = recordOf("LOOK-3", { stage: "completed", sequence: 2 });
    const later = recordOf("LOOK-3", { stage: "credited", sequence: 3, asOfMs: handedOut.asOfMs + 1 });
    const writer = await inActivity(() => Promise.resolve(currentWriter()));
    await served.context.ledger.records.saveDocument(business, later, writer);
    served.clock.nowMs += 60_000;
    expect(await looking(served, "completed", handedOut)).not.toHaveProperty("recorded");
    expect(await kept(served, "LOOK-3")).toMatchObject({ stage: "credited" });
  });
});
