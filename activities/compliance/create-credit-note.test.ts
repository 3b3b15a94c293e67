import { describe, expect, test } from "vitest";

import type { CreateResult } from "../../src/contract/index.ts";
import type { Fault } from "../../src/dev/simulator/index.ts";
import { creditNoteRequest, soldTea } from "../test-support/requests.ts";
import { emptyClaims } from "../test-support/empty-claims.ts";
import { failureOf, inActivity, serve, type Served } from "../test-support/served.ts";

const at = (fault: Omit<Fault, "operation">): Fault => ({ operation: "creditNote", ...fault });

const credit = (served: Served, saleId: string, number?: string): Promise<CreateResult> =>
  inActivity(() => served.activities.createCreditNote(creditNoteRequest(served, saleId, number)));

const notesOf = (served: Served) => served.simulator.documents().filter(({ type }) => type === "credit_note");

describe("the creation of a credit note", () => {
  test("gives the document that reverses the sale", async () => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    expect(await credit(served, saleId)).toMatchObject({
      kind: "document",
      document: { type: "credit_note", originalSaleId: saleId, totals: { total: -700 } },
      replayed: false,
    });
  });

  test("names the other credit note where the sale is already credited", async () => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    await credit(served, saleId, "CN-1");
    const [note] = notesOf(served);
    expect(await credit(served, saleId, "CN-2")).toEqual({
      kind: "number-taken",
      isOwn: true,
      message: expect.stringContaining("The sale has the credit note CN-1 already"),
    });
    // As if somebody else had issued it.
    await emptyClaims();
    expect(await credit(served, saleId, "CN-2")).toMatchObject({ kind: "already-credited", creditNoteId: note?.id });
    expect(notesOf(served)).toHaveLength(1);
  });

  test("is already credited by the code alone, where the answer names no credit note", async () => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    const body = { error: { code: "already_credited", message: "The sale is already credited" } };
    served.simulator.inject(at({ when: "before", kind: "status", status: 422, body }));
    expect(await credit(served, saleId)).toEqual({
      kind: "already-credited",
      creditNoteId: undefined,
      message: expect.stringContaining("already credited"),
    });
  });

  test("that is refused under an unknown code, without an id, names the setting of the code and creates nothing", async () => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    const body = { error: { code: "sale_has_credit_note", message: "The sale has a credit note" } };
    served.simulator.inject(at({ when: "before", kind: "status", status: 422, body }));
    expect(await credit(served, saleId)).toMatchObject({
      kind: "rejected",
      message: expect.stringContaining("errors.alreadyCredited"),
    });
    expect(notesOf(served)).toEqual([]);
  });

  test("keeps its own document that a 422 names", async () => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    served.simulator.setDefaultAuthority({ do: "reject", reason: "Too late" });
    const result = await credit(served, saleId);
    expect(result).toMatchObject({ kind: "rejected", saleId: notesOf(served)[0]?.id, repeatable: false });
  });

  test("does not take the sale in a 422 for its own document", async () => {
    const served = await serve();
    served.simulator.setDefaultAuthority({ do: "down" });
    const saleId = await soldTea(served, "INV-1");
    const result = await credit(served, saleId);
    expect(result).toMatchObject({ kind: "rejected", repeatable: true });
    expect(result).not.toHaveProperty("document");
    expect(result).not.toHaveProperty("saleId");
  });

  test("parks as not found for a sale that the key cannot see", async () => {
    const served = await serve();
    expect(await credit(served, "sale_of_somebody_else")).toMatchObject({ kind: "refused", attention: "not-found" });
  });

  test("is retried after a 429, no sooner than Retry-After", async () => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    served.simulator.inject(at({ when: "before", kind: "rate-limit", retryAfterSeconds: 59 }));
    const failure = await failureOf(() => served.activities.createCreditNote(creditNoteRequest(served, saleId)));
    expect(failure).toMatchObject({ type: "Deferred", benign: true, retryable: true, pauseMs: 59_000 });
  });

  test.each<[string, Omit<Fault, "operation">]>([
    ["before it was processed", { when: "before", kind: "drop" }],
    ["after it was processed", { when: "after", kind: "drop" }],
    ["half way", { when: "after", kind: "half-body" }],
  ])("whose answer is lost %s is sent again under its key, and one is filed", async (_when, fault) => {
    // Its key is documented, whatever the dialect says of the key of a sale.
    const served = await serve({ dialect: { createSale: { idempotencyKey: "off" } } });
    const saleId = await soldTea(served, "INV-1");
    served.simulator.inject(at({ ...fault, times: 1 }));
    const failure = await failureOf(() => served.activities.createCreditNote(creditNoteRequest(served, saleId)));
    expect(failure).toMatchObject({ type: "UnknownKeyed", retryable: true });
    expect(await credit(served, saleId)).toMatchObject({ kind: "document", replayed: fault.when === "after" });
    expect(notesOf(served)).toHaveLength(1);
  });

  test("under the number of another sale's credit note is not sent, and says whose it is", async () => {
    const served = await serve();
    const [one, other] = [await soldTea(served, "INV-1"), await soldTea(served, "INV-2")];
    await credit(served, one);
    expect(await credit(served, other)).toEqual({
      kind: "number-taken",
      message: expect.stringMatching(
        new RegExp(`CN-1 belongs to .*another sale: INV-1 \\(${one}\\).*Use another number`),
      ),
    });
    expect(notesOf(served)).toHaveLength(1);
    expect(await credit(served, other, "CN-2")).toMatchObject({ kind: "document" });
  });

  test("under one number for two sales at once is sent for only one of them", async () => {
    const served = await serve();
    const [one, other] = [await soldTea(served, "INV-1"), await soldTea(served, "INV-2")];
    const results = await Promise.all([credit(served, one), credit(served, other)]);
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(["document", "number-taken"]);
    expect(notesOf(served)).toHaveLength(1);
  });

  test("is not sent while the ledger is away", async () => {
    const served = await serve();
    const saleId = await soldTea(served, "INV-1");
    await served.context.ledger.close();
    expect(await credit(served, saleId)).toMatchObject({ kind: "deferred", waitFor: "ledger" });
    expect(notesOf(served)).toEqual([]);
  });

  test("waits for a worker that serves its connection", async () => {
    const served = await serve();
    const request = { ...creditNoteRequest(served, "sal_1"), connection: "another" };
    expect(await failureOf(() => served.activities.createCreditNote(request))).toMatchObject({
      type: "NotServed",
      retryable: true,
      pauseMs: 60_000,
    });
  });
});
