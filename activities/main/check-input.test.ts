import { Context } from "@temporalio/activity";
import { expect, test } from "vitest";

import { type ConnectionProfile, saleContent, type SaleInput } from "../../src/contract/index.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { keepRecord, recordOf, someBusiness, WRITER } from "../../src/ledger/test-support/records.ts";
import { emptyClaims } from "../test-support/empty-claims.ts";
import { inActivity, serve } from "../test-support/served.ts";
import { checkInput } from "./check-input.ts";
import { taking } from "../../src/ledger/test-support/movements.ts";

const DOUBTS = ['customer.pin: expected another, found "1"'];
const SALE: SaleInput = { traderInvoiceNumber: "INV-1", lines: [{ itemId: "itm_1", quantity: 1, unitPrice: 116 }] };

async function someSale() {
  const { runtime } = await serve();
  const business = someBusiness();
  const profile: ConnectionProfile = { ...runtime.profile, ...business };
  const ledger = await emptyClaims();
  const warned: string[] = [];
  const content = saleContent(SALE, business.businessId);
  return {
    ledger,
    business,
    warned,
    workflowId: await inActivity(async () => Context.current().info.workflowExecution?.workflowId ?? ""),
    run: (mode: "warn" | "refuse") =>
      inActivity(() => checkInput(ledger, profile, content, { doubts: DOUBTS, mode }), {
        warn: (message) => warned.push(message),
      }),
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
  const { run, warned, ledger, workflowId } = await someSale();
  const begun = { workflowId, intent: 1, nowMs: 1_000 };
  await ledger.documents.begin({ ...begun, idempotencyKey: "k", content: "c", request: {}, holder: "w", ...taking() });
  await run("refuse");
  expect(warned).toHaveLength(1);
  await ledger.documents.settle({ ...begun, outcome: { kind: "nothing" } });
  await expect(run("refuse")).rejects.toMatchObject(REFUSED);
});

test("while the ledger is away nothing is refused, and nothing goes on", async () => {
  const { run, warned, ledger } = await someSale();
  await ledger.close();
  await expect(run("refuse")).rejects.toThrow(LedgerUnavailableError);
  expect(warned).toEqual([]);
});
