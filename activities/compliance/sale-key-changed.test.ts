import { describe, expect, test } from "vitest";

import { sellTea, teaRequest } from "../test-support/requests.ts";
import { asItsRun, failureOf, inActivity, serve, type Served, START_MS } from "../test-support/served.ts";

const LOST = { operation: "createSale", when: "after", kind: "drop", times: 1 } as const;

/** A worker whose dialect says this of the key now. */
const servedWith = (idempotencyKey: "trusted" | "sent" | "off"): Promise<Served> =>
  serve({ dialect: { createSale: { idempotencyKey } } });

const keysSent = ({ simulator }: Served) =>
  simulator.calls({ operation: "createSale" }).map(({ idempotencyKey }) => idempotencyKey);

/** Its workflow has the activity tried once: a failure would read as a lost answer. */
describe.each(["sent", "off"] as const)("a sale begun with its key %s, which is trusted now", (saleKey) => {
  test("is not repeated after a lost answer", async () => {
    const served = await servedWith("trusted");
    served.simulator.inject(LOST);
    expect(await sellTea(served, "INV-1", { saleKey })).toMatchObject({ kind: "unknown" });
    served.clock.nowMs += 1_000;
    expect(await sellTea(served, "INV-1", { saleKey })).toMatchObject({ kind: "unknown" });
    expect(served.simulator.documents("INV-1")).toHaveLength(1);
    const request = teaRequest(served, "INV-1");
    expect(keysSent(served)).toEqual([saleKey === "off" ? null : request.idempotencyKey]);
  });

  test(`is ${saleKey === "off" ? "not " : ""}repeated by another run, which started when the key was trusted`, async () => {
    const served = await servedWith("trusted");
    served.simulator.inject(LOST);
    expect(await sellTea(served, "INV-1", { saleKey })).toMatchObject({ kind: "unknown" });
    served.clock.nowMs += 1_000;
    const again = saleKey === "off" ? { kind: "unknown" } : { kind: "document", replayed: true };
    expect(await sellTea(served, "INV-1", { saleKey: "trusted" })).toMatchObject(again);
    expect(served.simulator.documents("INV-1")).toHaveLength(1);
  });

  test("is deferred by a 429, and does not fail", async () => {
    const served = await servedWith("trusted");
    const limited = { operation: "createSale", when: "before", kind: "rate-limit", retryAfterSeconds: 37 } as const;
    served.simulator.inject(limited);
    expect(await sellTea(served, "INV-1", { saleKey })).toMatchObject({ kind: "deferred", retryAfterMs: 37_000 });
  });
});

describe.each(["sent", "off"] as const)("a sale begun under a trusted key, which is %s now", (now) => {
  const saleKey = "trusted";

  test("still carries its key", async () => {
    const served = await servedWith(now);
    expect(await sellTea(served, "INV-1", { saleKey })).toMatchObject({ kind: "document" });
    expect(keysSent(served)).toEqual([teaRequest(served, "INV-1").idempotencyKey]);
  });

  test("is not repeated any more: a lost answer waits for an operator", async () => {
    const served = await servedWith(now);
    served.simulator.inject(LOST);
    expect(await sellTea(served, "INV-1", { saleKey })).toMatchObject({ kind: "unknown" });
  });

  test("is not sent where the outcome of an earlier attempt is unknown", async () => {
    const other = await servedWith(now);
    const served = await servedWith("trusted");
    served.simulator.inject(LOST);
    await failureOf(() => served.activities.createSale(teaRequest(served, "INV-1", { saleKey })));
    // Both workers have one ledger.
    const worker = asItsRun({ ...other.context, ledger: served.context.ledger });
    const again = () => worker.createSale(teaRequest(other, "INV-1", { saleKey }));
    const firstSentAt = new Date(START_MS).toISOString();
    expect(await inActivity(again, { attempt: 2 })).toMatchObject({ kind: "unknown", evidence: { firstSentAt } });
    expect(other.simulator.calls({ operation: "createSale" })).toEqual([]);
  });
});

test("a sale under a trusted key waits for a worker that serves its connection", async () => {
  const served = await servedWith("trusted");
  const request = { ...teaRequest(served, "INV-1"), connection: "another" };
  expect(await failureOf(() => served.activities.createSale(request))).toMatchObject({
    type: "NotServed",
    retryable: true,
  });
});
