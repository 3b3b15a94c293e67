import { expect, test } from "vitest";

import { taking } from "../../src/ledger/test-support/movements.ts";
import { by, keepRecord, recordOf, someBusiness, WRITER } from "../../src/ledger/test-support/records.ts";
import { checkInput } from "./prepare.ts";
import { emptyClaims } from "../test-support/empty-claims.ts";
import { inActivity } from "../test-support/served.ts";

const DOUBTS = ['customer.pin: expected another, found "1"'];

async function someSale() {
  const business = someBusiness();
  const ledger = await emptyClaims();
  const warned: string[] = [];
  return {
    ledger,
    business,
    warned,
    run: async (checks: "warn" | "refuse") => {
      const known = await ledger.documents.findSale(business, "INV-1");
      await inActivity(async () => checkInput("INV-1", known, { doubts: DOUBTS, checks }), {
        warn: (message) => warned.push(message),
      });
    },
  };
}

const REFUSED = { type: "InvalidInput", nonRetryable: true, message: expect.stringContaining("customer.pin") };

test("a new sale that looks wrong is refused, or warned of", async () => {
  const { run, warned } = await someSale();
  await expect(run("refuse")).rejects.toMatchObject(REFUSED);
  expect(warned).toEqual([]);
  await run("warn");
  expect(warned).toEqual([`The sale INV-1 looks wrong, and goes on: customer.pin: expected another`]);
});

test("a sale that has a document, or used its number, is not refused", async () => {
  const { run, warned, ledger, business } = await someSale();
  const used = recordOf("INV-1", { document: null, stage: "submitting", numberTaken: true, movements: [] });
  await keepRecord(ledger, business, used, WRITER);
  await run("refuse");
  expect(warned).toHaveLength(1);
});

test("a sale whose create request may have been sent is not refused; one whose request created nothing is", async () => {
  const { run, warned, ledger, business } = await someSale();
  const intent = { ...business, of: { type: "sale", number: "INV-1" }, intent: 1, writer: WRITER } as const;
  const bytes = { idempotencyKey: "k", content: "c", request: {}, nowMs: 1_000 };
  const asked = { ...intent.of, stage: "resolving-items", startedAtMs: 1, date: "2026-11-20" } as const;
  await ledger.documents.open(business, asked, by(WRITER));
  await ledger.documents.take({ ...intent, ...bytes, ...taking() });
  await run("refuse");
  expect(warned).toHaveLength(1);
  await ledger.documents.settle({ ...intent, outcome: { kind: "nothing" } });
  await expect(run("refuse")).rejects.toMatchObject(REFUSED);
});
