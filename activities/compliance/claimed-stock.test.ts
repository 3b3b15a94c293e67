import { describe, expect, test } from "vitest";

import type { AdjustStockRequest, AdjustStockResult, CallUnderWay } from "../../src/contract/index.ts";
import type { Fault } from "../../src/dev/simulator/index.ts";
import { WRITER } from "../../src/ledger/test-support/records.ts";
import { currentWriter } from "../classified-call.ts";
import { inActivity, serve, type Served, START_MS } from "../test-support/served.ts";
import { teaMovement as movement } from "../test-support/requests.ts";

const at = (fault: Omit<Fault, "operation">): Fault => ({ operation: "adjustStock", times: 1, ...fault });

const adjust = (served: Served, changes: Partial<AdjustStockRequest> = {}): Promise<AdjustStockResult | CallUnderWay> =>
  inActivity(() => served.activities.adjustStock({ ...movement, ...changes }));

const sent = ({ simulator }: Served) => simulator.calls({ operation: "adjustStock" }).length;
const key = { connection: "default", businessId: "biz_1", referenceId: movement.referenceId };

/** An operator has acknowledged in an earlier run of the sale that the movement was refused, or held. */
async function givenUp({ context: { ledger } }: Served): Promise<void> {
  const writer = await inActivity(async () => currentWriter());
  const { referenceId: subject, ...business } = key;
  const of = { type: "sale", number: movement.of.number } as const;
  const asOf = { stage: "submitting", startedAtMs: START_MS, date: "2026-11-21" } as const;
  await ledger.documents.open(business, { ...of, ...asOf }, { writer, askedAtMs: START_MS });
  const decision = { update: "acknowledge", code: "stock-refused", subject, note: "booked by hand" } as const;
  const nothing = { numberTaken: false, attentions: [], attentionChanges: [] };
  const decisions = [{ ...decision, atMs: START_MS }];
  const note = { ...of, ...nothing, asOfMs: START_MS, sequence: 1, stage: "completed", decisions } as const;
  await ledger.documents.note(business, note, writer);
}

/** Decision 22: take, send, settle. */
describe("the claim of a stock adjustment", () => {
  test("is settled with the answer, which every later try adopts without sending", async () => {
    const served = await serve();
    const first = await adjust(served);
    expect(first).toMatchObject({ kind: "applied" });
    const another = { claim: { generation: 1, token: "after a reset" } };
    expect(await adjust(served, another)).toEqual({ ...first, unsettled: undefined });
    expect(sent(served)).toBe(1);
  });

  test("that is held makes the movement unknown for every other try, with its holder and the last balance as evidence", async () => {
    const served = await serve();
    await adjust(served, { referenceId: "INV-0/item_tea/sold" });
    served.clock.nowMs += 1_000;
    served.simulator.inject(at({ when: "after", kind: "drop" }));
    expect(await adjust(served)).toMatchObject({ kind: "unknown", evidence: { lastQuantityOnHand: 98 } });
    expect(await adjust(served, { claim: { generation: 1, token: "another" } })).toMatchObject({
      kind: "unknown",
      evidence: {
        takenAt: new Date(START_MS + 1_000).toISOString(),
        takenBy: expect.stringContaining("run"),
        lastQuantityOnHand: 98,
      },
    });
    expect(sent(served)).toBe(2);
  });

  test("whose acknowledgement was lost may be sent by the execution that follows the one that says so", async () => {
    const served = await serve();
    const { itemId, action, quantity, unitPrice, of } = movement;
    const writer = await inActivity(async () => currentWriter());
    const taken = { movement: { itemId, action, quantity, unitPrice } as const, of, writer, nowMs: START_MS };
    const by = { execution: "earlier", underWayForMs: 0, scheduledAtMs: START_MS };
    await served.context.ledger.stock.take({ ...key, generation: 1, token: "first", ...by, ...taken });
    expect(await adjust(served)).toMatchObject({ kind: "unknown" });
    expect(sent(served)).toBe(0);
    const claim = { generation: 1, token: "first", unsent: ["another", "earlier"] };
    expect(await adjust(served, { claim })).toMatchObject({ kind: "applied" });
  });

  test("is settled as not applied where the attempt has no time left to send, and nothing is sent", async () => {
    const served = await serve();
    const { callTimeoutMs } = served.runtime.profile.timings;
    const act = () => served.activities.adjustStock(movement);
    const late = await inActivity(act, { startToCloseTimeoutMs: callTimeoutMs });
    expect(late).toMatchObject({ kind: "deferred", message: expect.stringContaining("nothing was sent") });
    expect(sent(served)).toBe(0);
    expect(await served.context.ledger.stock.read(key)).toEqual({ kind: "superseded", generation: 1 });
    expect(await adjust(served, { claim: { generation: 2, token: "second" } })).toMatchObject({ kind: "applied" });
  });

  test("is not sent beside an execution that may still be at it", async () => {
    const served = await serve();
    const { itemId, action, quantity, unitPrice, of } = movement;
    const claimed = { itemId, action, quantity, unitPrice } as const;
    const by = {
      of,
      writer: WRITER,
      execution: "frozen",
      underWayForMs: 60_000,
      scheduledAtMs: START_MS,
      nowMs: START_MS,
    };
    const { stock } = served.context.ledger;
    await stock.take({ ...key, generation: 1, token: "first", ...by, movement: claimed });
    expect(await adjust(served)).toEqual({
      kind: "in-progress",
      message: expect.stringMatching(/^An earlier attempt may still be at this call for \d+ s\.$/),
    });
    expect(sent(served)).toBe(0);
  });

  test("is given back by a 429, so that the next generation may be sent", async () => {
    const served = await serve();
    served.simulator.inject(at({ when: "before", kind: "rate-limit", retryAfterSeconds: 1 }));
    expect(await adjust(served)).toMatchObject({ kind: "deferred" });
    expect(await adjust(served, { claim: { generation: 1, token: "late" } })).toEqual({
      kind: "superseded",
      generation: 1,
    });
    expect(await adjust(served, { claim: { generation: 2, token: "second" } })).toMatchObject({ kind: "applied" });
  });

  test("that was closed unused cannot be taken any more", async () => {
    const served = await serve();
    await served.context.ledger.stock.readOrClose({ ...key, generation: 1, writer: WRITER, nowMs: START_MS });
    expect(await adjust(served)).toEqual({ kind: "superseded", generation: 1 });
    expect(sent(served)).toBe(0);
  });

  test("of another movement under the same reference is not sent over", async () => {
    const served = await serve();
    await adjust(served);
    expect(await adjust(served, { quantity: 3, claim: { generation: 1, token: "other" } })).toMatchObject({
      kind: "not-applied",
      refusal: { attention: "stock-refused", message: expect.stringContaining("DEDUCT 2 of item_tea") },
    });
    expect(sent(served)).toBe(1);
  });

  test("returns an operator's decision on it", async () => {
    const served = await serve();
    served.simulator.inject(at({ when: "after", kind: "drop" }));
    await adjust(served);
    const { itemId, action, quantity, unitPrice } = movement;
    const decision = { applied: true, note: "seen", by: "njeri", atMs: START_MS + 5_000 };
    const of = { type: "sale", number: "INV-1", purpose: "sold" } as const;
    const claimed = { movement: { itemId, action, quantity, unitPrice } as const, of, writer: WRITER };
    await served.context.ledger.stock.decide({ ...key, generation: 1, decision, ...claimed });
    expect(await adjust(served, { claim: { generation: 1, token: "another" } })).toEqual({
      kind: "decided-applied",
      decision,
    });
  });

  test.each([1, 2])(
    "that was given up in an earlier run is not sent, whether or not it was ever taken (generation %i)",
    async (generation) => {
      const served = await serve();
      served.simulator.inject(at({ when: "before", kind: "status", status: 422 }));
      if (generation > 1) await adjust(served);
      const before = sent(served);
      await givenUp(served);
      const next = { generation, token: "after a restart" };
      expect(await adjust(served, { claim: next })).toEqual({ kind: "superseded", generation, givenUp: true });
      expect(sent(served)).toBe(before);
    },
  );

  test("that was applied counts as applied, although it was given up", async () => {
    const served = await serve();
    const applied = await adjust(served);
    await givenUp(served);
    const again = { generation: 1, token: "after a restart" };
    expect(await adjust(served, { claim: again })).toEqual({ ...applied, unsettled: undefined });
  });

  test("cannot be taken while the ledger is away, and nothing is sent", async () => {
    const served = await serve();
    await served.context.ledger.close();
    expect(await adjust(served)).toMatchObject({ kind: "deferred", sameTry: true, waitFor: "ledger" });
    expect(sent(served)).toBe(0);
  });
});
