import { expect, test } from "vitest";

import { WITHOUT_ENVELOPE } from "../../../src/compliance/errors.ts";
import type { SaleOutcome } from "../../../src/contract/index.ts";
import type { Button } from "../plan/button-plan.ts";
import {
  goodEvidence,
  goodShop,
  move,
  REFERENCE,
  violated,
  withAttention,
  withChronicle,
  WORKFLOW_ID,
} from "./test-support/good-evidence.ts";

test("a correct sale violates no invariant", async () => {
  expect(violated(await goodEvidence())).toEqual([]);
});

test("a second document, a second movement and a movement without a sale are found", async () => {
  const { evidence, simulator } = await goodShop();
  simulator.issueSale({
    businessId: "biz_1",
    traderInvoiceNumber: "INV-1",
    lines: [{ itemId: "item_tea", quantity: 2 }],
  });
  await move(simulator);
  await move(simulator, "ADD", "INV-9/item_tea/undone");
  expect(violated({ ...evidence, books: simulator.books() })).toEqual([
    "no document exists twice",
    "no stock movement was applied twice",
    "every sale moved its stock, and gave back what it had to",
    // Of two movements the workflow knows one.
    "what workflows say of their movements is so",
    "every document of the books is in the ledger as it is",
    "every movement that was applied is in the ledger",
  ]);
});

test("a movement that is missing in the books is found, and so is its workflow's false report", async () => {
  const evidence = await goodEvidence();
  expect(violated({ ...evidence, books: { ...evidence.books, movements: [] } })).toEqual([
    "every sale moved its stock, and gave back what it had to",
    "what workflows say of their movements is so",
    "every movement that was applied is in the ledger",
  ]);
});

test("an unknown movement without an attention or a decision is found, and one with both is not", async () => {
  const activity = {
    type: "adjustStock",
    input: { referenceId: REFERENCE },
    end: "completed",
    result: { kind: "unknown" },
  } as const;
  const unknown = withChronicle(await goodEvidence(), { activities: [activity] });
  expect(violated(unknown)).toEqual(["every unknown movement was visible, and was resolved by an operator"]);
  const updates = [{ name: "resolveStock", input: { referenceId: REFERENCE, applied: true } }];
  expect(violated(withAttention(withChronicle(unknown, { updates }), "stock-unknown", "lost"))).toEqual([]);
});

test("a lost call whose claim was never read is found, and one whose outcome appeared later is not", async () => {
  const of = (type: string, end: "completed" | "timed-out" | "never-started", result: unknown) =>
    ({ type, input: { referenceId: REFERENCE }, end, result }) as const;
  const lost = of("adjustStock", "timed-out", "");
  expect(violated(withChronicle(await goodEvidence(), { activities: [lost] }))).toEqual([
    "every unknown movement was visible, and was resolved by an operator",
  ]);
  const read = of("readMovement", "completed", { kind: "unknown" });
  const applied = of("watchMovement", "completed", { kind: "applied" });
  expect(violated(withChronicle(await goodEvidence(), { activities: [lost, read, applied] }))).toEqual([]);
  const unstarted = of("adjustStock", "never-started", "");
  expect(violated(withChronicle(await goodEvidence(), { activities: [unstarted] }))).toEqual([]);
});

test("an operator's decision counts once, also where the claim repeats it; a second decision on one outcome is found", async () => {
  const of = (type: string, result: unknown) =>
    ({ type, input: { referenceId: REFERENCE }, end: "completed", result }) as const;
  const activities = [of("adjustStock", { kind: "unknown" }), of("watchMovement", { kind: "decided-applied" })];
  const word = { name: "resolveStock", input: { referenceId: REFERENCE, applied: true } };
  const said = withAttention(
    withChronicle(await goodEvidence(), { activities, updates: [word] }),
    "stock-unknown",
    "lost",
  );
  expect(violated(said)).toEqual([]);
  expect(violated(withChronicle(said, { updates: [word, word] }))).toEqual([
    "every unknown movement was visible, and was resolved by an operator",
  ]);
});

test("a sale that is lost, failed, or differs from the books is found", async () => {
  const evidence = await goodEvidence();
  expect(violated({ ...evidence, chronicles: [] })).toEqual(["no sale is lost"]);
  expect(violated(withChronicle(evidence, { status: "TERMINATED" }))).toEqual([
    "no sale is lost",
    "no workflow failed, was terminated, or is stuck",
  ]);
  const books = { ...evidence.books, documents: evidence.books.documents.map((one) => ({ ...one, id: "sale_other" })) };
  expect(violated({ ...evidence, books })).toEqual([
    "every result agrees with the books",
    "every document of the books is in the ledger as it is",
  ]);
});

test("an outcome given to a caller that changed later is found", async () => {
  const evidence = await goodEvidence();
  const [outcome] = evidence.storm.callers.outcomes.values();
  const violatedWith = (changes: object) => {
    const callers = { outcomes: new Map([[WORKFLOW_ID, { ...outcome, ...changes } as SaleOutcome]]), states: 1 };
    return violated({ ...evidence, storm: { ...evidence.storm, callers } });
  };
  expect(violatedWith({})).toEqual([]);
  expect(violatedWith({ stage: "cancelled" })).toEqual(["what a caller was told stays so"]);
  expect(violatedWith({ stage: "credited" })).toEqual(["what a caller was told stays so"]);
  expect(violatedWith({ stage: "crediting" })).toEqual(["what a caller was told stays so"]);
  expect(violatedWith({ sale: null })).toEqual(["what a caller was told stays so"]);
  expect(violatedWith({ receipt: null })).toEqual(["what a caller was told stays so"]);
});

test("a sale that was cancelled by hand before it was signed, and then reset, may be signed after all", async () => {
  const evidence = await goodEvidence();
  const [outcome] = evidence.storm.callers.outcomes.values();
  const violatedWith = (told: object, ...pressed: Button[]) => {
    const callers = { outcomes: new Map([[WORKFLOW_ID, { ...outcome, ...told } as SaleOutcome]]), states: 1 };
    const touched = new Map([[WORKFLOW_ID, new Set(pressed)]]);
    const buttons = { pressed: {}, touched, decidedByHand: new Set<string>(), restarted: [] };
    return violated({ ...evidence, storm: { ...evidence.storm, callers, buttons } });
  };
  const unsigned = { stage: "cancelled", receipt: null };
  expect(violatedWith(unsigned, "workflow cancel", "batch reset")).toEqual([]);
  const misinformed = ["what a caller was told stays so"];
  expect(violatedWith(unsigned, "workflow cancel")).toEqual(misinformed);
  expect(violatedWith(unsigned, "workflow reset")).toEqual(misinformed);
  expect(violatedWith({ stage: "cancelled" }, "workflow cancel", "batch reset")).toEqual(misinformed);
});

test("a sale whose credit note an operator gave up may end completed, without one in the books, and only then", async () => {
  const { evidence, simulator } = await goodShop();
  const [sale] = evidence.storm.sales.values();
  const [document] = simulator.documents("INV-1");
  if (!sale || !document) throw new Error("a sale was expected");
  const request = { reason: "06", traderInvoiceNumber: "CN-1" } as const;
  const refund = { when: "when-completed", authority: [], request } as const;
  const sales = new Map([[WORKFLOW_ID, { ...sale, ends: "credited", refund } as const]]);
  const refunded = { ...evidence, storm: { ...evidence.storm, sales } };
  expect(violated(refunded)).toEqual(["no sale is lost", "every result agrees with the books"]);
  const touched = new Map([[WORKFLOW_ID, new Set(["credit note cancel"] as const)]]);
  const buttons = { pressed: {}, touched, decidedByHand: new Set<string>(), restarted: [] };
  const givenUp = { ...refunded, storm: { ...refunded.storm, buttons } };
  expect(violated(givenUp)).toEqual([]);
  const note = { ...document, type: "credit_note", traderInvoiceNumber: "CN-1", originalSaleId: document.id } as const;
  const books = { ...evidence.books, documents: [...evidence.books.documents, { ...note, id: "note_1" }] };
  expect(violated({ ...givenUp, books })).toEqual([
    "every result agrees with the books",
    "every document of the books is in the ledger as it is",
  ]);
});

test("a sale has one run, and a second one where it is refunded after its window", async () => {
  const evidence = withChronicle(await goodEvidence(), { runs: ["COMPLETED", "COMPLETED"] });
  expect(violated(evidence)).toEqual(["every sale has one workflow"]);
  const [sale] = evidence.storm.sales.values();
  if (!sale) throw new Error("a sale was expected");
  const request = { reason: "06", traderInvoiceNumber: "CN-1" } as const;
  const refund = { when: "after-its-window", authority: [], request } as const;
  const sales = new Map([[WORKFLOW_ID, { ...sale, refund }]]);
  const late = { ...evidence, storm: { ...evidence.storm, sales } };
  expect(violated(late)).toEqual(["every result agrees with the books"]);
  const runs = ["COMPLETED", "COMPLETED", "COMPLETED"];
  expect(violated(withChronicle(late, { runs }))).toContain("every sale has one workflow");
  expect(violated(withChronicle(late, { runs, runsThatOnlyAnswered: 1 }))).not.toContain("every sale has one workflow");
  expect(violated(withChronicle(evidence, { runsThatOnlyAnswered: 1 }))).toEqual(["every sale has one workflow"]);
});

test("a history that does not replay is found, and so is a run without replays", async () => {
  const evidence = await goodEvidence();
  const errors = ["it does not replay: nondeterminism"];
  expect(violated({ ...evidence, replays: { replayed: 2, errors } })).toEqual(["every history replays"]);
  expect(violated({ ...evidence, replays: { replayed: 0, errors: [] } })).toEqual(["every history replays"]);
});

test("a failed workflow task, an operator called for a 429, an accepted forgery and a leaked secret are found", async () => {
  const evidence = await goodEvidence();
  expect(violated(withChronicle(evidence, { taskFailures: ["cause 2: nondeterminism"] }))).toEqual([
    "no workflow task failed, but for Temporal's own races",
  ]);
  expect(violated(withAttention(evidence, "invalid-request", "createSale: HTTP 429"))).toEqual([
    "nobody is called for a 429",
    "nobody is called for what did not happen",
  ]);
  expect(violated(withChronicle(evidence, { signals: ["callbackReceived"] }))).toEqual([
    "a forged callback changes nothing",
  ]);
  const secret = "no secret is in any history, memo, error, log or metric";
  expect(violated(withChronicle(evidence, { secretsFound: [0] }))).toEqual([secret]);
  expect(violated({ ...evidence, logsWithSecrets: ["worker-0.log:1 holds a secret"] })).toEqual([secret]);
});

test("an operator called for a refusal of wrong types is called for what happened, and without one is not", async () => {
  const evidence = await goodEvidence();
  const called = withAttention(evidence, "unexpected-answer", `createSale: HTTP 422 ${WITHOUT_ENVELOPE}`);
  expect(violated(called)).toEqual(["nobody is called for what did not happen"]);
  const [call] = evidence.books.callLog;
  if (!call) throw new Error("a call was expected");
  const callLog = [{ ...call, fault: "wrong-types", status: 422 }];
  expect(violated({ ...called, books: { ...evidence.books, callLog } })).toEqual([]);
});

test("goods that went back to another branch than the one they were taken from are found", async () => {
  const { evidence, simulator } = await goodShop();
  const [sale] = [...evidence.storm.sales.values()];
  if (!sale) throw new Error("a sale was expected");
  await move(simulator, "ADD", "CN-1/item_tea/restocked");
  const movements = simulator
    .books()
    .movements.map((one) => ({ ...one, branchId: one.action === "ADD" ? "branch_2" : one.branchId }));
  const request = { reason: "06", traderInvoiceNumber: "CN-1", restock: true } as const;
  const refunded = { ...sale, refund: { when: "when-completed", authority: [], request } as const };
  const sales = new Map([[sale.number, refunded]]);
  const books = { ...simulator.books(), movements };
  expect(violated({ ...evidence, storm: { ...evidence.storm, sales }, books })).toContain(
    "no more went back to stock than was taken, for each sale, item and branch",
  );
});
