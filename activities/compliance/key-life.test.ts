import { describe, expect, test } from "vitest";

import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { EarlierRunsUnreadError } from "../earlier-runs/earlier-runs.ts";
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
  test("does not begin while it is certain that nothing was sent: a refusal leaves no doubt", async () => {
    const served = await serve();
    served.simulator.inject(REVOKED);
    const result = await inActivity(() => served.activities.createSale(teaRequest(served, "INV-1")));
    expect(result).toMatchObject({ kind: "refused", attention: "credentials" });
    expect(result).not.toMatchObject({ firstSentAtMs: expect.any(Number) });
  });

  test("begins with a lost answer, and a later refusal does not end the doubt", async () => {
    const served = await serve();
    served.simulator.inject(REVOKED);
    const heartbeatDetails = { throughAttempt: 1, firstSentAtMs: START_MS - HOUR_MS };
    const create = () => served.activities.createSale(teaRequest(served, "INV-1"));
    const result = await inActivity(create, { attempt: 2, heartbeatDetails });
    expect(result).toMatchObject({ kind: "refused", attention: "credentials", firstSentAtMs: START_MS - HOUR_MS });
  });

  test("counts an attempt that was lost with its worker as sent", async () => {
    const served = await serve();
    served.simulator.inject(REVOKED);
    const create = () => served.activities.createSale(teaRequest(served, "INV-1"));
    const heartbeatDetails = { throughAttempt: 1 };
    const scheduledAtMs = START_MS - HOUR_MS;
    expect(await inActivity(create, { attempt: 2, heartbeatDetails, scheduledAtMs })).not.toHaveProperty(
      "firstSentAtMs",
      expect.any(Number),
    );
    const lost = await inActivity(create, { attempt: 3, heartbeatDetails, scheduledAtMs });
    expect(lost).toMatchObject({ kind: "refused", firstSentAtMs: scheduledAtMs });
  });

  test("ends after 24 hours: then nothing more is sent, and an operator must decide", async () => {
    const served = await serve();
    const create = (number: string, firstSentAtMs: number) =>
      inActivity(() => served.activities.createSale({ ...teaRequest(served, number), firstSentAtMs }));
    expect(await create("INV-1", START_MS - 24 * HOUR_MS)).toMatchObject({ kind: "unknown" });
    expect(served.simulator.calls()).toEqual([]);
    expect(await create("INV-2", START_MS - 23 * HOUR_MS)).toMatchObject({ kind: "document" });
  });

  test("may be over for an earlier run's request: then nothing is sent while the ledger is away", async () => {
    const served = await serve();
    const create = () => inActivity(() => served.activities.createSale(teaRequest(served, "INV-1")));
    await served.context.ledger.close();
    for (const takeOver of [
      () => Promise.resolve(true),
      () => Promise.reject(new LedgerUnavailableError("away")),
      () => Promise.reject(new EarlierRunsUnreadError("sale/default/biz_1/INV-1", "no answer")),
    ]) {
      served.context.earlierRuns = { takeOver };
      expect(await create()).toMatchObject({ kind: "deferred", waitFor: "ledger" });
    }
    served.context.earlierRuns = { takeOver: () => Promise.resolve(false) };
    // A server that does not let us list the runs says that there are none: the run itself knows better.
    const following = { ...teaRequest(served, "INV-1"), carriesOn: true };
    const created = await inActivity(() => served.activities.createSale(following));
    expect(created).toMatchObject({ kind: "deferred", waitFor: "ledger" });
    expect(served.simulator.calls()).toEqual([]);
    expect(await create()).toMatchObject({ kind: "document" });
  });

  test("begins in the claim too when it was first sent, though the ledger was away then", async () => {
    const served = await serve();
    served.simulator.inject({ operation: "createSale", when: "after", kind: "drop" });
    const request = { ...teaRequest(served, "INV-1"), firstSentAtMs: START_MS - HOUR_MS };
    await failureOf(() => served.activities.createSale(request));
    expect(await served.context.ledger.documents.read(request.claim)).toMatchObject({
      firstSentAtMs: START_MS - HOUR_MS,
    });
  });

  test("does not pass while every answer is a 429, for days", async () => {
    const served = await serve();
    served.simulator.inject({ operation: "createSale", when: "before", kind: "rate-limit", retryAfterSeconds: 7 });
    const create = () => served.activities.createSale(teaRequest(served, "INV-1"));
    const heartbeatDetails = { throughAttempt: 4_000 };
    const scheduledAtMs = START_MS - 72 * HOUR_MS;
    const failure = await failureOf(create, { attempt: 4_001, heartbeatDetails, scheduledAtMs });
    expect(failure).toMatchObject({ type: "Deferred", retryable: true });
  });
});
