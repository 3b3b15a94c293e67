import { describe, expect, test } from "vitest";

import { sellTea, teaRequest } from "../test-support/requests.ts";
import { inActivity, serve, type Served, START_MS } from "../test-support/served.ts";

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

  test("is not sent where the outcome of an earlier attempt is unknown, whether or not the ledger has it", async () => {
    const served = await servedWith(now);
    const firstSentAtMs = START_MS - 60_000;
    const create = () => served.activities.createSale(teaRequest(served, "INV-1", { saleKey }));
    const again = { attempt: 2, heartbeatDetails: { throughAttempt: 1, firstSentAtMs } };
    const firstSentAt = new Date(firstSentAtMs).toISOString();
    expect(await inActivity(create, again)).toMatchObject({ kind: "unknown", evidence: { firstSentAt } });
    expect(served.simulator.calls({ operation: "createSale" })).toEqual([]);
  });
});

test("a sale that may have been sent stays unknown where another attempt runs on a worker without its connection", async () => {
  const served = await servedWith("trusted");
  const firstSentAtMs = START_MS - 60_000;
  const request = { ...teaRequest(served, "INV-1"), connection: "another" };
  const again = { attempt: 2, heartbeatDetails: { throughAttempt: 1, firstSentAtMs } };
  expect(await inActivity(() => served.activities.createSale(request), again)).toMatchObject({
    kind: "deferred",
    firstSentAtMs,
  });
});
