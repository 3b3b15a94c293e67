import { describe, expect, test } from "vitest";

import type { RetryDocumentResult } from "../../src/contract/index.ts";
import type { Fault } from "../../src/dev/simulator/index.ts";
import { saleRequest, soldTea } from "../test-support/requests.ts";
import { failureOf, inActivity, serve, type Served } from "../test-support/served.ts";

const at = (fault: Omit<Fault, "operation">): Fault => ({ operation: "retry", ...fault });
const retry = (served: Served, saleId: string): Promise<RetryDocumentResult> =>
  inActivity(() => served.activities.retryDocument(saleRequest(saleId)));

async function serveRejected(callTimeoutMs = 5_000): Promise<{ served: Served; saleId: string }> {
  const served = await serve({ callTimeoutMs });
  served.simulator.setAuthority("INV-1", [{ do: "reject", reason: "PIN is wrong" }]);
  return { served, saleId: await soldTea(served, "INV-1") };
}

describe("the resubmission of a document", () => {
  test("returns the completed document", async () => {
    const { served, saleId } = await serveRejected();
    served.simulator.setAuthority("INV-1", [{ do: "accept" }]);
    expect(await retry(served, saleId)).toMatchObject({
      kind: "document",
      document: { id: saleId, status: "completed" },
    });
  });

  test("returns the document in flight", async () => {
    const { served, saleId } = await serveRejected();
    served.simulator.setAuthority("INV-1", [{ do: "down" }]);
    expect(await retry(served, saleId)).toMatchObject({ kind: "document", document: { status: "pending" } });
  });

  test("returns the document rejected again, with the authority's new reason", async () => {
    const { served, saleId } = await serveRejected();
    served.simulator.setAuthority("INV-1", [{ do: "reject", reason: "PIN is still wrong" }]);
    expect(await retry(served, saleId)).toMatchObject({
      kind: "rejected",
      document: { id: saleId, status: "failed", error: "PIN is still wrong" },
    });
  });

  const rejection = (sale?: object): Fault =>
    at({
      when: "before",
      kind: "status",
      status: 422,
      body: { error: { code: "authority_rejected", message: "The document was rejected." }, ...(sale && { sale }) },
    });

  test("looks at the document where the rejection holds another one, as that which a credit note reverses", async () => {
    const { served, saleId } = await serveRejected();
    const [reversed] = served.simulator.documents("INV-1");
    served.simulator.inject(rejection({ ...reversed, id: "sale_other", status: "completed" }));
    expect(await retry(served, saleId)).toMatchObject({
      kind: "rejected",
      message: expect.stringContaining("rejected"),
      document: { id: saleId, status: "failed", error: "PIN is wrong" },
    });
  });

  test("finds the document that a lost answer had completed, where the rejection holds none", async () => {
    const { served, saleId } = await serveRejected();
    served.simulator.setAuthority("INV-1", [{ do: "accept" }]);
    served.simulator.inject(at({ when: "after", kind: "drop" }));
    expect(await retry(served, saleId)).toMatchObject({ kind: "converging" });
    served.simulator.inject(rejection());
    expect(await retry(served, saleId)).toMatchObject({ document: { id: saleId, status: "completed" } });
  });

  test("is rejected also where the rejection holds no document, and the document cannot be read", async () => {
    const { served, saleId } = await serveRejected();
    served.simulator.inject(rejection());
    served.simulator.inject({ operation: "readSale", when: "before", kind: "status", status: 503 });
    expect(await retry(served, saleId)).toEqual({ kind: "rejected", message: expect.stringContaining("rejected") });
  });

  test.each<[string, Omit<Fault, "operation">]>([
    ["a connection that breaks before it was processed", { when: "before", kind: "drop" }],
    ["a connection that breaks after it was processed", { when: "after", kind: "drop" }],
    ["half a body", { when: "after", kind: "half-body" }],
    ["a 503", { when: "after", kind: "status", status: 503 }],
    ["an answer of wrong types", { when: "after", kind: "wrong-types" }],
    ["an answer that is slower than the timeout", { when: "after", kind: "slow", delayMs: 60_000 }],
  ])("is unclear after %s, so that the document is read, and is sent once", async (_what, fault) => {
    const { served, saleId } = await serveRejected(fault.kind === "slow" ? 300 : 5_000);
    served.simulator.setAuthority("INV-1", [{ do: "accept" }]);
    served.simulator.inject(at(fault));
    expect(await retry(served, saleId)).toMatchObject({ kind: "converging", message: expect.stringMatching(/./) });
    expect(served.simulator.calls({ operation: "retry" })).toHaveLength(1);
  });

  test("is tried again where no connection could be made", async () => {
    // No connection from before, which would be lost instead.
    const served = await serve();
    await served.simulator.close();
    expect(await failureOf(() => served.activities.retryDocument(saleRequest("sale_1")))).toMatchObject({
      type: "NotSent",
      retryable: true,
    });
  });

  test("is deferred by the quota, for no less than Retry-After", async () => {
    const { served, saleId } = await serveRejected();
    served.simulator.inject(at({ when: "before", kind: "rate-limit", retryAfterSeconds: 41 }));
    expect(await failureOf(() => served.activities.retryDocument(saleRequest(saleId)))).toMatchObject({
      type: "Deferred",
      benign: true,
      pauseMs: 41_000,
    });
  });

  test.each([
    [400, "invalid-request"],
    [401, "credentials"],
    [403, "credentials"],
    [404, "not-found"],
  ])("is refused by a %i", async (status, attention) => {
    const { served, saleId } = await serveRejected();
    served.simulator.inject(at({ when: "before", kind: "status", status }));
    expect(await retry(served, saleId)).toMatchObject({ kind: "refused", attention, status });
  });
});
