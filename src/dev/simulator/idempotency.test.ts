import { describe, expect, test } from "vitest";
import { at, call, codeOf, saleId, simulatorUnderTest, teaSale } from "./test-support/simulator-under-test.ts";

describe("an idempotency key", () => {
  test("replays the document as it is now and files nothing new", async () => {
    const simulator = await simulatorUnderTest();
    simulator.setAuthority("INV-1", [{ do: "down" }]);
    const options = { body: teaSale("INV-1"), idempotencyKey: "sale:INV-1" };
    const first = await call(simulator, "POST", "/v1/sales", options);
    simulator.setAuthority("INV-1", [{ do: "accept" }]);
    const second = await call(simulator, "POST", "/v1/sales", {
      ...options,
      body: teaSale("INV-1", { saleDate: null }),
    });
    expect([first.status, second.status]).toEqual([202, 200]);
    expect([first, second].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
    expect(saleId(second)).toBe(saleId(first));
    expect(at(second.body, "data", "sale", "status")).toBe("completed");
    expect(simulator.documents("INV-1")).toMatchObject([{ submissions: 1 }]);
    expect(simulator.books().keyReusedWithOtherBody).toMatchObject([{ idempotencyKey: "sale:INV-1" }]);
  });

  test("makes one document of requests that arrive together", async () => {
    const simulator = await simulatorUnderTest({ latencyMs: 5 });
    const options = { body: teaSale("INV-1"), idempotencyKey: "sale:INV-1" };
    const answers = await Promise.all([1, 2, 3, 4].map(async () => call(simulator, "POST", "/v1/sales", options)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(answers.map(saleId)).size).toBe(1);
    expect(simulator.documents()).toHaveLength(1);
  });

  test("that the service no longer keeps files a second document", async () => {
    const simulator = await simulatorUnderTest();
    const options = { body: teaSale("INV-1"), idempotencyKey: "sale:INV-1" };
    await call(simulator, "POST", "/v1/sales", options);
    simulator.forgetIdempotencyKeys();
    expect((await call(simulator, "POST", "/v1/sales", options)).status).toBe(201);
    expect(simulator.documents("INV-1")).toHaveLength(2);
  });

  test("that is ignored on sales lets a second document appear", async () => {
    const simulator = await simulatorUnderTest({ ignoreIdempotencyKeyOnSales: true });
    const options = { body: teaSale("INV-1"), idempotencyKey: "sale:INV-1" };
    await call(simulator, "POST", "/v1/sales", options);
    expect((await call(simulator, "POST", "/v1/sales", options)).status).toBe(201);
    expect(simulator.documents("INV-1")).toHaveLength(2);
  });

  test("of a wrong form is refused", async () => {
    const simulator = await simulatorUnderTest();
    const answer = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1"), idempotencyKey: "short" });
    expect([answer.status, codeOf(answer)]).toEqual([400, "invalid_request"]);
  });
});
