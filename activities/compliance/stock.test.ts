import { describe, expect, test } from "vitest";

import type { AdjustStockRequest, AdjustStockResult, CallUnderWay } from "../../src/contract/index.ts";
import type { Fault } from "../../src/dev/simulator/index.ts";
import { API_KEY, inActivity, serve, type Served, START_MS } from "../test-support/served.ts";
import { teaMovement as movement } from "../test-support/requests.ts";

const at = (fault: Omit<Fault, "operation">): Fault => ({ operation: "adjustStock", ...fault });

/** Rejects if the activity throws: a failed attempt would read as a movement of which nobody knows. */
const adjust = (served: Served, changes: Partial<AdjustStockRequest> = {}): Promise<AdjustStockResult | CallUnderWay> =>
  inActivity(() => served.activities.adjustStock({ ...movement, ...changes }));

const movements = ({ simulator }: Served) => simulator.books().movements;

describe("a stock adjustment", () => {
  test("is applied by a 201 that names the movement", async () => {
    const served = await serve();
    const result = await adjust(served);
    const [booked] = movements(served);
    expect(booked).toMatchObject({ referenceId: "INV-1/item_tea/sold", action: "DEDUCT", quantity: 2, unitPrice: 350 });
    expect(result).toEqual({
      kind: "applied",
      movementId: booked?.movementId,
      branchId: "branch_1",
      quantityOnHand: 98,
      report: undefined,
      sentAtMs: START_MS,
    });
  });

  test("goes to the branch that is asked for", async () => {
    const served = await serve();
    expect(await adjust(served, { branch: { id: "branch_2" } })).toMatchObject({ branchId: "branch_2" });
  });

  test("is applied, and its report shown, where the report is not ok", async () => {
    const served = await serve();
    served.simulator.updateItem("item_tea", { fiscalReport: { stockIo: "ok", stockMaster: "queued" } });
    expect(await adjust(served)).toMatchObject({
      kind: "applied",
      report: { stockIo: "ok", stockMaster: "queued" },
    });
  });

  test("is applied, and the missing part of its report shown, where the report is not whole", async () => {
    const served = await serve();
    const body = { data: { movementId: "mov_1", fiscal: { stockIo: { status: "ok" } } } };
    served.simulator.inject(at({ when: "after", kind: "status", status: 201, body }));
    expect(await adjust(served)).toMatchObject({
      kind: "applied",
      movementId: "mov_1",
      report: { stockIo: "ok", stockMaster: "missing" },
    });
  });

  test.each([{}, { fiscal: null }])(
    "is applied without a report, which is noted, where the answer has none under the dialect's name (%j)",
    async (data) => {
      const served = await serve();
      const body = { data: { movementId: "mov_1", ...data } };
      served.simulator.inject(at({ when: "after", kind: "status", status: 201, body }));
      expect(await adjust(served)).toMatchObject({ kind: "applied", movementId: "mov_1", report: undefined });
      expect(served.observed).toMatchObject([
        { service: "compliance", connection: "default", kind: "not-read", subject: "stock.report", value: "fiscal" },
      ]);
    },
  );

  test("is applied without a report where the dialect reads none", async () => {
    const served = await serve({ dialect: { stock: { report: null } } });
    served.simulator.updateItem("item_tea", { fiscalReport: { stockIo: "down", stockMaster: "down" } });
    expect(await adjust(served)).toMatchObject({ kind: "applied", report: undefined });
    expect(served.observed).toEqual([]);
  });

  describe("to a named branch", () => {
    const ignoring = { dialect: { stock: { branch: "location" } }, refuseUnknownFields: false };
    const branch = { id: "branch_2", authorityBhfId: "01" };

    test("is applied at the branch of the answer, and reported, where the service ignored the requested branch", async () => {
      const served = await serve({ simulator: ignoring });
      const result = await adjust(served, { branch });
      expect(result).toMatchObject({
        kind: "applied",
        branchId: "branch_1",
        otherBranch: { asked: "branch_2", answered: "branch_1", message: expect.stringContaining("stock.branchBy") },
      });
      expect(served.observed).toMatchObject([{ kind: "ignored", subject: "stock.branch", value: "branchId" }]);
    });

    test("is not sent while another movement's wrong branch waits for an operator", async () => {
      const served = await serve({ simulator: ignoring });
      await adjust(served, { branch });
      const held = await adjust(served, { branch, referenceId: "INV-2/item_tea/sold" });
      expect(held).toMatchObject({ kind: "branch-held", message: expect.stringContaining("INV-1/item_tea/sold") });
      expect(await adjust(served, { referenceId: "INV-3/item_tea/sold" })).toMatchObject({ kind: "applied" });
      expect(movements(served).map(({ referenceId }) => referenceId)).toEqual([
        "INV-1/item_tea/sold",
        "INV-3/item_tea/sold",
      ]);
    });

    test("is sent despite another movement's wrong branch where the dialect sends no branch", async () => {
      const served = await serve({ dialect: { stock: { branch: null } } });
      for (const referenceId of ["INV-1/item_tea/sold", "INV-2/item_tea/sold"])
        expect(await adjust(served, { branch, referenceId })).toMatchObject({ kind: "applied", branchId: "branch_1" });
    });

    test.each(["branch_2", "01", null])(
      "is the one that was asked for, under its own id, where the answer names it as %j",
      async (name) => {
        const served = await serve();
        const body = { data: { movementId: "mov_1", branchId: name } };
        served.simulator.inject(at({ when: "after", kind: "status", status: 201, body }));
        const result = await adjust(served, { branch });
        expect(result).toMatchObject({ kind: "applied", branchId: "branch_2" });
        expect(result).not.toHaveProperty("otherBranch");
      },
    );
  });

  test("is not applied by a 400, and the service's reason is kept", async () => {
    const served = await serve();
    expect(await adjust(served, { quantity: -1 })).toMatchObject({
      kind: "not-applied",
      refusal: { attention: "stock-refused", status: 400, apiCode: "invalid_request" },
    });
    expect(movements(served)).toEqual([]);
  });

  test("is not applied by a 404", async () => {
    const served = await serve();
    expect(await adjust(served, { itemId: "item_gone" })).toMatchObject({
      kind: "not-applied",
      refusal: { attention: "stock-refused", status: 404 },
    });
  });

  test("is not applied by a 401, and parks on the key", async () => {
    const served = await serve();
    served.simulator.setApplication("simulator", { suspended: true });
    expect(await adjust(served)).toMatchObject({
      kind: "not-applied",
      refusal: { attention: "credentials", status: 401 },
    });
  });

  test("is not applied by a 403, which names the scope that the key needs", async () => {
    const served = await serve();
    served.simulator.setKey(API_KEY, { scopes: ["sales:write"] });
    expect(await adjust(served)).toMatchObject({
      kind: "not-applied",
      refusal: { attention: "credentials", message: expect.stringContaining("stock:write") },
    });
  });

  test("is not sent where it cannot be made as asked", async () => {
    const served = await serve();
    expect(await adjust(served, { businessId: undefined })).toMatchObject({
      kind: "not-applied",
      refusal: { attention: "invalid-request" },
    });
    expect(served.simulator.calls()).toEqual([]);
  });

  test("is deferred by a 429, for no less than Retry-After", async () => {
    const served = await serve();
    served.simulator.inject(at({ when: "before", kind: "rate-limit", retryAfterSeconds: 37 }));
    expect(await adjust(served)).toMatchObject({ kind: "deferred", retryAfterMs: 37_000 });
    expect(movements(served)).toEqual([]);
  });

  test("is postponed if no connection can be made", async () => {
    const served = await serve();
    await served.simulator.close();
    expect(await adjust(served)).toMatchObject({ kind: "deferred", message: expect.stringContaining("ECONNREFUSED") });
  });

  test("is deferred by a worker that does not serve the connection", async () => {
    const served = await serve();
    expect(await adjust(served, { connection: "another" })).toEqual({
      kind: "deferred",
      sameTry: true,
      message: "This worker serves no connection named another; it serves: default.",
    });
  });

  test.each<[string, Omit<Fault, "operation">, string]>([
    ["a connection that breaks before it was processed", { when: "before", kind: "drop" }, "connection-lost"],
    ["a connection that breaks after it was processed", { when: "after", kind: "drop" }, "connection-lost"],
    ["half a body", { when: "after", kind: "half-body" }, "body-unreadable"],
    ["an answer slower than the timeout", { when: "after", kind: "slow", delayMs: 60_000 }, "timeout"],
    ["a 500", { when: "after", kind: "status", status: 500 }, "HTTP 500"],
    ["a 503 of the service's own", { when: "before", kind: "status", status: 503 }, "HTTP 503"],
    ["a 408", { when: "before", kind: "status", status: 408 }, "HTTP 408"],
    ["a proxy's 403", { when: "before", kind: "status", status: 403, body: "denied" }, "HTTP 403"],
    ["a proxy's 404", { when: "before", kind: "status", status: 404, body: "<html>" }, "HTTP 404"],
    ["a proxy's page with a 201", { when: "after", kind: "not-json" }, "HTTP 201"],
    ["a 200", { when: "after", kind: "status", status: 200, body: { data: { movementId: "mov_1" } } }, "HTTP 200"],
    ["a 202", { when: "after", kind: "status", status: 202, body: {} }, "HTTP 202"],
    ["a 201 without a movement", { when: "after", kind: "status", status: 201, body: { data: {} } }, "HTTP 201"],
    ["a redirect", { when: "before", kind: "status", status: 302, body: "" }, "HTTP 302"],
  ])("is unknown after %s, with the evidence of what came back", async (_what, fault, cameBack) => {
    const served = await serve({ callTimeoutMs: fault.kind === "slow" ? 300 : 5_000 });
    served.simulator.inject(at(fault));
    expect(await adjust(served)).toMatchObject({
      kind: "unknown",
      message: expect.stringMatching(/./),
      evidence: { sentAtMs: START_MS, cameBack },
    });
    expect(served.simulator.calls({ operation: "adjustStock" })).toHaveLength(1);
    expect(movements(served)).toHaveLength(fault.when === "after" ? 1 : 0);
  });

  test("shows in the evidence what a proxy's page said", async () => {
    const served = await serve();
    served.simulator.inject(at({ when: "after", kind: "not-json", body: "<html>Please log in</html>" }));
    expect(await adjust(served)).toMatchObject({ evidence: { bodyExcerpt: "<html>Please log in</html>" } });
  });
});
