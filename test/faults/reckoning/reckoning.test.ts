import { afterEach, expect, test } from "vitest";

import type { SaleOutcome, StockMovement } from "../../../src/contract/index.ts";
import { builtInScenario, type Simulator, startSimulator } from "../../../src/simulator/index.ts";
import type { PlannedSale } from "../plan/planned-sale.ts";
import type { Chronicle } from "./chronicle.ts";
import type { Evidence } from "./evidence.ts";
import { INVARIANTS } from "./invariants.ts";

const SALE: PlannedSale = {
  number: "INV-1",
  shape: "accepted-at-once",
  connection: "default",
  businessId: "biz_1",
  input: { traderInvoiceNumber: "INV-1", callback: "off" },
  startedTwice: false,
  authority: [{ do: "accept" }],
  ownItems: [],
  onRejection: "retry",
  faults: [],
  ends: "completed",
  takes: new Map([["item_tea", 2]]),
  total: 700,
};
const WORKFLOW_ID = "sale/default/biz_1/INV-1";
const REFERENCE = "INV-1/item_tea/sold";

let simulator: Simulator | undefined;
afterEach(() => simulator?.close());

async function move(action = "DEDUCT", referenceId = REFERENCE): Promise<void> {
  const body = JSON.stringify({ itemId: "item_tea", action, quantity: 2, unitPrice: 350, referenceId });
  const headers = { "x-api-key": "cmp_sk_test_simulator", "content-type": "application/json" };
  await fetch(`${simulator?.url}/v1/stock/adjustments?businessId=biz_1`, { method: "POST", headers, body });
}

/** One sale as it should be: in the books once, its stock moved once, its workflow completed with what the books hold. */
async function goodEvidence(): Promise<Evidence> {
  simulator = await startSimulator({ scenario: builtInScenario });
  simulator.issueSale({
    businessId: "biz_1",
    traderInvoiceNumber: "INV-1",
    lines: [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }],
  });
  await move();
  return { ...evidenceOf(simulator), logsWithSecrets: [], endedByThemselves: 0 };
}

function evidenceOf(running: Simulator): Pick<Evidence, "storm" | "books" | "chronicles"> {
  const books = running.books();
  const [document] = running.documents("INV-1");
  const [movement] = books.movements;
  const told: StockMovement = {
    referenceId: REFERENCE,
    purpose: "sold",
    action: "DEDUCT",
    itemId: "item_tea",
    quantity: 2,
    unitPrice: 350,
    state: "applied",
    ...(movement && { movementId: movement.movementId }),
  };
  const result: SaleOutcome = {
    stage: "completed",
    sale: document ?? null,
    receipt: document?.receipt ?? null,
    stockMovements: [told],
    numberTaken: true,
    nextWait: 0,
  };
  const chronicle: Chronicle = {
    workflowId: WORKFLOW_ID,
    type: "sale",
    status: "COMPLETED",
    result,
    events: 20,
    activities: [
      { type: "adjustStock", input: { referenceId: REFERENCE }, end: "completed", result: { kind: "applied" } },
    ],
    timeouts: [],
    updates: [],
    signals: [],
    taskFailures: ["UNHANDLED_COMMAND: a signal came"],
    tasksLost: 0,
    secretsFound: [],
  };
  const storm = {
    sales: new Map([[WORKFLOW_ID, SALE]]),
    attentions: [],
    kills: [],
    killsLeft: 0,
    mischief: undefined,
    stuck: [],
    problems: [],
    tookMs: 0,
  };
  return { storm, books, chronicles: [chronicle] };
}

function violated(evidence: Evidence): string[] {
  return Object.entries(INVARIANTS).flatMap(([name, findings]) => (findings(evidence).length > 0 ? [name] : []));
}

function withChronicle(evidence: Evidence, changes: Partial<Chronicle>): Evidence {
  return { ...evidence, chronicles: evidence.chronicles.map((chronicle) => ({ ...chronicle, ...changes })) };
}

function withAttention(evidence: Evidence, code: "stock-unknown" | "invalid-request", message: string): Evidence {
  const attention = { workflowId: WORKFLOW_ID, code, subject: REFERENCE, message, sinceMs: 0 };
  return { ...evidence, storm: { ...evidence.storm, attentions: [attention] } };
}

test("a sale that is as it should be violates nothing", async () => {
  expect(violated(await goodEvidence())).toEqual([]);
});

test("a second document, a second movement and a movement of nobody are found", async () => {
  const evidence = await goodEvidence();
  simulator?.issueSale({
    businessId: "biz_1",
    traderInvoiceNumber: "INV-1",
    lines: [{ itemId: "item_tea", quantity: 2 }],
  });
  await move();
  await move("ADD", "INV-9/item_tea/undone");
  expect(violated({ ...evidence, books: simulator?.books() ?? evidence.books })).toEqual([
    "no document exists twice",
    "no stock movement was applied twice",
    "every sale moved its stock, and gave back what it had to",
    // Of two movements the workflow knows one.
    "what workflows say of their movements is so",
  ]);
});

test("a movement that is missing in the books is found, and that its workflow says otherwise", async () => {
  const evidence = await goodEvidence();
  expect(violated({ ...evidence, books: { ...evidence.books, movements: [] } })).toEqual([
    "every sale moved its stock, and gave back what it had to",
    "what workflows say of their movements is so",
  ]);
});

test("an unknown movement that nobody saw or resolved is found, and one that was seen and resolved is not", async () => {
  const activity = {
    type: "adjustStock",
    input: { referenceId: REFERENCE },
    end: "completed",
    result: { kind: "unknown" },
  } as const;
  const unknown = withChronicle(await goodEvidence(), { activities: [activity] });
  expect(violated(unknown)).toEqual(["every unknown movement was visible, and was resolved by a person"]);
  const updates = [{ name: "resolveStock", input: { referenceId: REFERENCE, applied: true } }];
  expect(violated(withAttention(withChronicle(unknown, { updates }), "stock-unknown", "lost"))).toEqual([]);
});

test("a lost call whose claim nobody looked into is found, and one whose outcome turned up is not", async () => {
  const of = (type: string, end: "completed" | "timed-out", result: unknown) =>
    ({ type, input: { referenceId: REFERENCE }, end, result }) as const;
  const lost = of("adjustStock", "timed-out", "");
  expect(violated(withChronicle(await goodEvidence(), { activities: [lost] }))).toEqual([
    "every unknown movement was visible, and was resolved by a person",
  ]);
  const read = of("readMovement", "completed", { kind: "unknown" });
  const applied = of("watchMovement", "completed", { kind: "applied" });
  expect(violated(withChronicle(await goodEvidence(), { activities: [lost, read, applied] }))).toEqual([]);
});

test("a person's word is counted once, also where the claim repeats it; a second word for one unknown outcome is found", async () => {
  const of = (type: string, result: unknown) =>
    ({ type, input: { referenceId: REFERENCE }, end: "completed", result }) as const;
  const activities = [of("adjustStock", { kind: "unknown" }), of("watchMovement", { kind: "said-applied" })];
  const word = { name: "resolveStock", input: { referenceId: REFERENCE, applied: true } };
  const said = withAttention(
    withChronicle(await goodEvidence(), { activities, updates: [word] }),
    "stock-unknown",
    "lost",
  );
  expect(violated(said)).toEqual([]);
  expect(violated(withChronicle(said, { updates: [word, word] }))).toEqual([
    "every unknown movement was visible, and was resolved by a person",
  ]);
});

test("a sale that is lost, failed, or not the one in the books is found", async () => {
  const evidence = await goodEvidence();
  expect(violated({ ...evidence, chronicles: [] })).toEqual(["no sale is lost"]);
  expect(violated(withChronicle(evidence, { status: "TERMINATED" }))).toEqual([
    "no sale is lost",
    "no workflow failed, was terminated, or is stuck",
  ]);
  const books = { ...evidence.books, documents: evidence.books.documents.map((one) => ({ ...one, id: "sale_other" })) };
  expect(violated({ ...evidence, books })).toEqual(["every result agrees with the books"]);
});

test("a failed workflow task, a call for a 429, a heard forgery and a secret are found", async () => {
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
  const secret = "no secret is in any history, memo, error or log";
  expect(violated(withChronicle(evidence, { secretsFound: [0] }))).toEqual([secret]);
  expect(violated({ ...evidence, logsWithSecrets: ["worker-0.log:1 holds a secret"] })).toEqual([secret]);
});
