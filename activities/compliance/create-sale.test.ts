import { describe, expect, test } from "vitest";

import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import type { Fault } from "../../src/dev/simulator/index.ts";
import { sellTea, soldTea, teaRequest } from "../test-support/requests.ts";
import { emptyClaims } from "../test-support/empty-claims.ts";
import { asItsRun, API_KEY, failureOf, inActivity, serve, START_MS } from "../test-support/served.ts";

const at = (fault: Omit<Fault, "operation">): Fault => ({ operation: "createSale", ...fault });

describe("the creation of a sale, under a key that the service honours,", () => {
  test("gives the completed document of a 201", async () => {
    const served = await serve();
    const result = await sellTea(served, "INV-1");
    expect(result).toMatchObject({ kind: "document", replayed: false });
    expect(result).toMatchObject({ document: { status: "completed", receipt: { receiptLabel: "NS" } } });
  });

  test("writes that its execution has ended only where it has no answer to write", async () => {
    const served = await serve();
    const { documents } = served.context.ledger;
    const before = { ...documents };
    const told: string[] = [];
    documents.ended = (claim) => {
      told.push(claim.of.number);
      return before.ended(claim);
    };
    await sellTea(served, "INV-1");
    served.simulator.inject(at({ when: "after", kind: "drop", times: 1 }));
    await failureOf(() => served.activities.createSale(teaRequest(served, "INV-2")));
    expect(told).toEqual(["INV-2"]);
  });

  test("gives the document in flight of a 202", async () => {
    const served = await serve();
    served.simulator.setDefaultAuthority({ do: "down", status: "retrying" });
    expect(await sellTea(served, "INV-1")).toMatchObject({
      kind: "document",
      document: { status: "retrying", receipt: null },
      replayed: false,
    });
  });

  test("keeps the document that a 422 names, and says that it must not be sent again", async () => {
    const served = await serve();
    served.simulator.setDefaultAuthority({ do: "reject", reason: "PIN is wrong" });
    const result = await sellTea(served, "INV-1");
    const [filed] = served.simulator.documents("INV-1");
    expect(result).toMatchObject({
      kind: "rejected",
      saleId: filed?.id,
      document: { id: filed?.id, status: "failed", error: "PIN is wrong" },
      repeatable: false,
    });
  });

  test("says of a 422 without a document that it may be sent once more", async () => {
    const served = await serve();
    served.simulator.setDefaultAuthority({ do: "reject", reason: "Closed", withoutDocument: true });
    const result = await sellTea(served, "INV-1");
    expect(result).toMatchObject({ kind: "rejected", repeatable: true });
    expect(result).not.toHaveProperty("document");
  });

  test("says that it may be sent once more when the key returns an earlier rejection", async () => {
    const served = await serve();
    served.simulator.setDefaultAuthority({ do: "reject", reason: "Closed", withoutDocument: true });
    await sellTea(served, "INV-1");
    served.simulator.setDefaultAuthority({ do: "accept" });
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "rejected", repeatable: true });
  });

  test("gives the same document again for the same key, and files no second", async () => {
    const served = await serve();
    const first = await sellTea(served, "INV-1");
    // As if the ledger had lost the sale.
    await emptyClaims();
    expect(await sellTea(served, "INV-1")).toEqual({ ...first, replayed: true });
    expect(served.simulator.documents("INV-1")).toHaveLength(1);
  });

  test("names the document that is claimed already, without another request", async () => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "named", saleId });
    expect(served.simulator.calls({ operation: "createSale" })).toHaveLength(1);
  });

  test("sends the bytes that were sent first, whatever another run would send", async () => {
    const served = await serve();
    served.simulator.inject(at({ when: "after", kind: "drop", times: 1 }));
    const first = { ...teaRequest(served, "INV-1"), content: "the same sale" };
    await failureOf(() => served.activities.createSale(first));
    const bodyJson = first.request.bodyJson.replace("{", '{"callbackUrl":"https://elsewhere.example/",');
    const second = { ...first, request: { ...first.request, bodyJson } };
    expect(await inActivity(() => served.activities.createSale(second))).toMatchObject({ replayed: true });
    expect(served.simulator.books().keyReusedWithOtherBody).toEqual([]);
  });

  test("is unknown where an earlier run sent another document whose outcome is unknown", async () => {
    const served = await serve();
    served.simulator.inject(at({ when: "after", kind: "drop", times: 1 }));
    await failureOf(() => served.activities.createSale(teaRequest(served, "INV-1")));
    const other = { ...teaRequest(served, "INV-1"), content: "another sale" };
    expect(await inActivity(() => served.activities.createSale(other))).toMatchObject({
      kind: "unknown",
      message: expect.stringContaining("another request under this number"),
    });
    expect(served.simulator.calls({ operation: "createSale" })).toHaveLength(1);
  });

  test("is not sent while the ledger is away", async () => {
    const served = await serve();
    await served.context.ledger.close();
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "deferred", waitFor: "ledger" });
    expect(served.simulator.calls()).toEqual([]);
  });

  test("says that its answer is not settled where the ledger goes away before its answer, and where it differs", async () => {
    const served = await serve();
    const { documents } = served.context.ledger;
    const settleAnswered = () => Promise.reject(new LedgerUnavailableError("away"));
    served.context.ledger = { ...served.context.ledger, documents: { ...documents, settleAnswered } };
    const restarted = asItsRun(served.context);
    const request = teaRequest(served, "INV-1");
    request.of.expectedTotal = 701;
    request.expected.customerPin = "P051234567X";
    expect(await inActivity(() => restarted.createSale(request))).toMatchObject({
      kind: "document",
      unsettled: true,
      differences: ["customer.pin: expected P051234567X, found nothing"],
      totalDiffers: "totals.total: expected 701, found 700",
    });
    expect(await documents.read(request)).toMatchObject({ firstSentAtMs: START_MS });
  });

  test("keeps the document's id even if nothing else in the answer can be read", async () => {
    const served = await serve();
    served.simulator.inject(
      at({ when: "after", kind: "status", status: 201, body: { data: { sale: { id: "sale_9" } } } }),
    );
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "named", saleId: "sale_9" });
  });

  test("is refused as malformed by a 400, with the API's own code", async () => {
    const served = await serve();
    const result = await sellTea(served, "INV-1", { itemId: "" });
    expect(result).toMatchObject({
      kind: "refused",
      attention: "invalid-request",
      status: 400,
      apiCode: "invalid_request",
    });
  });

  test("shows the branches that the API offers in place of a wrong one", async () => {
    const served = await serve();
    expect(await sellTea(served, "INV-1", { branch: { id: "branch_9" } })).toMatchObject({
      attention: "invalid-request",
      details: { branches: [{ id: "branch_1" }, { id: "branch_2" }] },
    });
  });

  test("parks on the key after a 401", async () => {
    const served = await serve();
    served.simulator.setApplication("simulator", { suspended: true });
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "refused", attention: "credentials", status: 401 });
  });

  test("parks on the key after a 403, and names the scope that it needs", async () => {
    const served = await serve();
    served.simulator.setKey(API_KEY, { scopes: ["sales:read"] });
    expect(await sellTea(served, "INV-1")).toMatchObject({
      kind: "refused",
      attention: "credentials",
      status: 403,
      message: expect.stringContaining("sales:write"),
    });
  });

  test("parks as not found after a 404", async () => {
    const served = await serve();
    expect(await sellTea(served, "INV-1", { itemId: "item_gone" })).toMatchObject({
      kind: "refused",
      attention: "not-found",
      status: 404,
    });
  });

  test("is retried after a 429, no sooner than Retry-After asks, and counts as a benign failure", async () => {
    const served = await serve();
    served.simulator.inject(at({ when: "before", kind: "rate-limit", retryAfterSeconds: 37 }));
    const attempt = () => failureOf(() => served.activities.createSale(teaRequest(served, "INV-1")));
    expect(await attempt()).toMatchObject({ type: "Deferred", retryable: true, benign: true, pauseMs: 37_000 });
    served.dice.next = 0.999;
    expect((await attempt()).pauseMs).toBeGreaterThan(37_000);
    expect(served.simulator.documents("INV-1")).toEqual([]);
  });

  test.each([
    ["120", 120_000],
    ["7200", 3_600_000],
    ["1000000", 3_600_000],
  ])("is retried after a 503 with Retry-After %s, no sooner and at most an hour later", async (seconds, pauseMs) => {
    const served = await serve();
    const headers = { "retry-after": seconds };
    served.simulator.inject(at({ when: "before", kind: "status", status: 503, headers }));
    const failure = await failureOf(() => served.activities.createSale(teaRequest(served, "INV-1")));
    expect(failure).toMatchObject({
      type: "UnknownKeyed",
      pauseMs,
      message: expect.stringContaining("the service asks for a pause of ") as string,
    });
  });

  test("is retried ten minutes after a 429 that asks for days", async () => {
    const served = await serve();
    const headers = { "retry-after": "259200" };
    served.simulator.inject(at({ when: "before", kind: "status", status: 429, headers }));
    const failure = await failureOf(() => served.activities.createSale(teaRequest(served, "INV-1")));
    expect(failure).toMatchObject({
      type: "Deferred",
      pauseMs: 600_000,
      message: expect.stringContaining("(the service asks for a pause of a day or more)") as string,
    });
  });

  test("is retried after the window's reset where a 429 has no Retry-After", async () => {
    const served = await serve();
    const headers = { "x-ratelimit-limit": "120", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "23" };
    served.simulator.inject(at({ when: "before", kind: "status", status: 429, headers }));
    const failure = await failureOf(() => served.activities.createSale(teaRequest(served, "INV-1")));
    expect(failure).toMatchObject({ type: "Deferred", pauseMs: 23_000 });
  });

  test.each<[string, Omit<Fault, "operation">]>([
    ["a connection that breaks before it was processed", { when: "before", kind: "drop" }],
    ["a connection that breaks after it was processed", { when: "after", kind: "drop" }],
    ["half a body", { when: "after", kind: "half-body" }],
    ["a proxy's page in place of the answer", { when: "after", kind: "not-json" }],
    ["an answer of wrong types", { when: "after", kind: "wrong-types" }],
    ["a 502", { when: "after", kind: "status", status: 502 }],
    ["a 500 without an envelope", { when: "before", kind: "status", status: 500, body: "oops" }],
    ["an answer that is slower than the timeout", { when: "after", kind: "slow", delayMs: 60_000 }],
  ])("is sent again under its key after %s, and only one document is issued", async (_what, fault) => {
    const served = await serve({ callTimeoutMs: fault.kind === "slow" ? 300 : 5_000 });
    served.simulator.inject(at({ ...fault, times: 1 }));
    const failure = await failureOf(() => served.activities.createSale(teaRequest(served, "INV-1")));
    expect(failure).toMatchObject({ type: "UnknownKeyed", retryable: true, pauseMs: 1_000 });
    expect(failure.message).not.toContain(API_KEY);
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "document", document: { status: "completed" } });
    expect(served.simulator.documents("INV-1")).toHaveLength(1);
    expect(served.simulator.books().keyReusedWithOtherBody).toEqual([]);
  });

  test("waits longer after each lost answer, up to a minute", async () => {
    const served = await serve();
    served.dice.next = 0.999;
    served.simulator.inject(at({ when: "before", kind: "drop" }));
    const pauses: number[] = [];
    for (const attempt of [1, 2, 3, 6, 40]) {
      const failure = await failureOf(() => served.activities.createSale(teaRequest(served, "INV-1")), { attempt });
      pauses.push(failure.pauseMs);
    }
    expect(pauses.toSorted((a, b) => a - b)).toEqual(pauses);
    expect(new Set(pauses.slice(0, 4)).size).toBe(4);
    expect(pauses.at(-1)).toBeLessThanOrEqual(60_000);
  });

  test("is known not to have been sent where no connection could be made", async () => {
    const served = await serve();
    await served.simulator.close();
    expect(await failureOf(() => served.activities.createSale(teaRequest(served, "INV-1")))).toMatchObject({
      type: "NotSent",
      retryable: true,
    });
  });
});
