import { expect, describe, test } from "vitest";

import { failureOf, inActivity, serve, START_MS } from "../test-support/served.ts";
import { teaRequest } from "../test-support/requests.ts";

const HOUR_MS = 3_600_000;
const REVOKED = {
  operation: "createSale",
  when: "before",
  kind: "status",
  status: 401,
  body: { error: { code: "invalid_api_key", message: "no" } },
} as const;

describe("the life of an Idempotency-Key", () => {
  const create = (served: Awaited<ReturnType<typeof serve>>, attempt = 1) =>
    inActivity(() => served.activities.createSale(teaRequest(served, "INV-1")), { attempt });
  /** Its first answer is lost. */
  async function servedOnce() {
    const served = await serve();
    served.simulator.inject({ operation: "createSale", when: "before", kind: "drop", times: 1 });
    await failureOf(() => served.activities.createSale(teaRequest(served, "INV-1")));
    return served;
  }

  test("does not begin while it is certain that nothing was sent: a refusal leaves no doubt", async () => {
    const served = await serve();
    served.simulator.inject(REVOKED);
    expect(await create(served)).toMatchObject({ kind: "refused", attention: "credentials", inDoubt: false });
  });

  test("begins with a lost answer, and a later refusal does not end the doubt", async () => {
    const served = await servedOnce();
    served.simulator.inject(REVOKED);
    expect(await create(served, 2)).toMatchObject({ kind: "refused", attention: "credentials", inDoubt: true });
  });

  test("ends after 24 hours: then nothing more is sent, and an operator must decide", async () => {
    const served = await servedOnce();
    served.clock.nowMs = START_MS + 24 * HOUR_MS;
    expect(await create(served, 2)).toMatchObject({
      kind: "unknown",
      message: expect.stringContaining("remembers the key of 2026-11-21T09:00:00.000Z no longer"),
      evidence: { firstSentAt: "2026-11-21T09:00:00.000Z" },
    });
    expect(served.simulator.documents()).toEqual([]);
    served.clock.nowMs = START_MS + 23 * HOUR_MS;
    expect(await create(served, 3)).toMatchObject({ kind: "document" });
  });

  test("is not counted without the claim: nothing is sent while the ledger is away, and what was in doubt stays so", async () => {
    const served = await serve();
    await served.context.ledger.close();
    expect(await create(served)).toMatchObject({ kind: "deferred", waitFor: "ledger" });
    expect(await create(served)).not.toHaveProperty("inDoubt");
    // The attempt before may have sent it.
    expect(await create(served, 2)).toMatchObject({ kind: "deferred", waitFor: "ledger", inDoubt: true });
    expect(served.simulator.calls()).toEqual([]);
  });

  test("does not pass while every answer is a 429, for days", async () => {
    const served = await serve();
    served.simulator.inject({ operation: "createSale", when: "before", kind: "rate-limit", retryAfterSeconds: 7 });
    const ask = () => served.activities.createSale(teaRequest(served, "INV-1"));
    for (const days of [0, 1, 2, 3]) {
      served.clock.nowMs = START_MS + days * 24 * HOUR_MS;
      expect(await failureOf(ask, { attempt: 4_001 })).toMatchObject({ type: "Deferred", retryable: true });
    }
  });
});
