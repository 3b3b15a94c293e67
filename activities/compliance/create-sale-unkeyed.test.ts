import { describe, expect, onTestFinished, test } from "vitest";

import type { Fault } from "../../src/dev/simulator/index.ts";
import { respondJson, startStubServer } from "../../src/http/test-support/stub-server.ts";
import { sellTea, teaRequest } from "../test-support/requests.ts";
import { API_KEY, inActivity, serve, type ServeOptions } from "../test-support/served.ts";

const at = (fault: Omit<Fault, "operation">): Fault => ({ operation: "createSale", ...fault });

/** A failure would be tried again, or read as a lost answer: every outcome must come back as a result. */
describe.each(["sent", "off"] as const)("the creation of a sale whose key is %s", (idempotencyKey) => {
  const serveUnkeyed = (options: ServeOptions = {}) =>
    serve({ dialect: { createSale: { idempotencyKey } }, ...options });

  test("gives the document of a 201", async () => {
    const served = await serveUnkeyed();
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "document", document: { status: "completed" } });
  });

  test(`${idempotencyKey === "off" ? "does not send" : "sends"} the key`, async () => {
    const served = await serveUnkeyed();
    await sellTea(served, "INV-1", { key: "sale:INV-1:abcdefgh" });
    const [call] = served.simulator.calls({ operation: "createSale" });
    expect(call?.idempotencyKey).toBe(idempotencyKey === "off" ? null : "sale:INV-1:abcdefgh");
  });

  /** On a kept one that the service is just closing it would be lost, and nobody would know whether it was read. */
  test("goes on a connection of its own, as all that is sent once", async () => {
    const service = await startStubServer((response) => respondJson(response, 502, {}));
    onTestFinished(() => service.close());
    await sellTea(await serveUnkeyed({ env: { COMPLIANCE_BASE_URL: service.baseUrl } }), "INV-1");
    expect(service.requests.map(({ headers }) => headers.connection)).toEqual(["close"]);
  });

  test.each<[string, Omit<Fault, "operation">]>([
    ["a connection that breaks before it was processed", { when: "before", kind: "drop" }],
    ["a connection that breaks after it was processed", { when: "after", kind: "drop" }],
    ["half a body", { when: "after", kind: "half-body" }],
    ["a proxy's page in place of the answer", { when: "after", kind: "not-json" }],
    ["an answer of wrong types", { when: "after", kind: "wrong-types" }],
    ["a 502", { when: "after", kind: "status", status: 502 }],
    ["a status that fits no row", { when: "after", kind: "status", status: 418 }],
    ["an answer that is slower than the timeout", { when: "after", kind: "slow", delayMs: 60_000 }],
  ])("is unknown after %s", async (_what, fault) => {
    const served = await serveUnkeyed({ callTimeoutMs: fault.kind === "slow" ? 300 : 5_000 });
    served.simulator.inject(at(fault));
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "unknown", message: expect.stringMatching(/./) });
  });

  test("keeps the id of a document whose answer says nothing else that can be read", async () => {
    const served = await serveUnkeyed();
    served.simulator.inject(
      at({ when: "after", kind: "status", status: 201, body: { data: { sale: { id: "sale_9" } } } }),
    );
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "named", saleId: "sale_9" });
  });

  test("is deferred by a 429, for no less than Retry-After", async () => {
    const served = await serveUnkeyed();
    served.simulator.inject(at({ when: "before", kind: "rate-limit", retryAfterSeconds: 37 }));
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "deferred", retryAfterMs: 37_000 });
  });

  test("is deferred where no connection could be made, since nothing was sent", async () => {
    const served = await serveUnkeyed();
    await served.simulator.close();
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "deferred" });
  });

  test("is deferred by a worker that does not serve the connection, since nothing was sent", async () => {
    const served = await serveUnkeyed();
    const request = { ...teaRequest(served, "INV-1"), connection: "another" };
    expect(await inActivity(() => served.activities.createSale(request))).toEqual({
      kind: "deferred",
      message: "This worker serves no connection named another; it serves: default.",
    });
  });

  test("says of a 422 without a document that it must not be sent again", async () => {
    const served = await serveUnkeyed();
    served.simulator.setDefaultAuthority({ do: "reject", reason: "Closed", withoutDocument: true });
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "rejected", repeatable: false });
  });

  test("keeps the document that a 422 names", async () => {
    const served = await serveUnkeyed();
    served.simulator.setDefaultAuthority({ do: "reject", reason: "PIN is wrong" });
    expect(await sellTea(served, "INV-1")).toMatchObject({ kind: "rejected", document: { status: "failed" } });
  });

  test.each([
    [400, "invalid-request"],
    [401, "credentials"],
    [403, "credentials"],
    [404, "not-found"],
  ])("is refused by a %i", async (status, attention) => {
    const served = await serveUnkeyed();
    served.simulator.inject(at({ when: "before", kind: "status", status }));
    const result = await sellTea(served, "INV-1");
    expect(result).toMatchObject({ kind: "refused", attention, status });
    expect(JSON.stringify(result)).not.toContain(API_KEY);
  });
});
