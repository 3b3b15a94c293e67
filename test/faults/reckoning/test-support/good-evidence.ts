import { onTestFinished } from "vitest";

import type { SaleOutcome, StockMovement } from "../../../../src/contract/index.ts";
import { type Books, type Simulator, startSimulator } from "../../../../src/dev/simulator/index.ts";
import type { PlannedSale } from "../../plan/planned-sale.ts";
import type { Chronicle } from "../chronicle.ts";
import type { Evidence } from "../evidence.ts";
import { INVARIANTS } from "../invariants.ts";
import type { KeptLedger } from "../kept-ledger.ts";

const SALE: PlannedSale = {
  number: "INV-1",
  shape: "accepted-at-once",
  connection: "default",
  businessId: "biz_1",
  input: { traderInvoiceNumber: "INV-1", callback: "off", lines: [] },
  startedTwice: false,
  authority: [{ do: "accept" }],
  ownItems: [],
  onRejection: "retry",
  faults: [],
  ends: "completed",
  takes: new Map([["item_tea", 2]]),
  total: 700,
};
export const WORKFLOW_ID = "sale/default/biz_1/INV-1";
export const REFERENCE = "INV-1/item_tea/sold";

export async function move(simulator: Simulator, action = "DEDUCT", referenceId = REFERENCE): Promise<void> {
  const body = JSON.stringify({ itemId: "item_tea", action, quantity: 2, unitPrice: 350, referenceId });
  const headers = { "x-api-key": "cmp_sk_test_simulator", "content-type": "application/json" };
  await fetch(`${simulator.url}/v1/stock/adjustments?businessId=biz_1`, { method: "POST", headers, body });
}

/**
 * One sale as it should be: in the books once, its stock moved once, its workflow completed with what the books hold,
 * and the ledger with the same. Beside it the simulator, which ends with the test.
 */
export async function goodShop(): Promise<{ evidence: Evidence; simulator: Simulator }> {
  const simulator = await startSimulator();
  onTestFinished(() => simulator.close());
  simulator.issueSale({
    businessId: "biz_1",
    traderInvoiceNumber: "INV-1",
    lines: [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }],
  });
  await move(simulator);
  return { evidence: { ...evidenceOf(simulator), logsWithSecrets: [], endedByThemselves: [] }, simulator };
}

export async function goodEvidence(): Promise<Evidence> {
  return (await goodShop()).evidence;
}

function evidenceOf(running: Simulator): Pick<Evidence, "storm" | "books" | "chronicles" | "replays" | "ledger"> {
  const books = running.books();
  const [document] = running.documents("INV-1");
  const [movement] = books.movements;
  const reported: StockMovement = {
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
    stockMovements: [reported],
    numberTaken: true,
    nextWait: 0,
  };
  const chronicle: Chronicle = {
    workflowId: WORKFLOW_ID,
    type: "sale",
    runs: ["COMPLETED"],
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
    runsThatOnlyAnswered: 0,
    secretsFound: [],
  };
  const storm = {
    sales: new Map([[WORKFLOW_ID, SALE]]),
    callers: { outcomes: new Map([[WORKFLOW_ID, result]]), states: 1 },
    attentions: [],
    kills: [],
    killsLeft: 0,
    freezes: 0,
    outagesLeft: 0,
    buttons: undefined,
    randomFaults: undefined,
    stuck: [],
    problems: [],
    tookMs: 0,
  };
  return { storm, books, chronicles: [chronicle], replays: { replayed: 1, errors: [] }, ledger: ledgerOf(books) };
}

/** The ledger as it should be: what the books hold, and its events as they were written. */
function ledgerOf({ documents, movements }: Books): KeptLedger {
  return {
    documents: documents.map(({ businessId, type, traderInvoiceNumber: number, id, status, totals }) => {
      return { businessId, type, number, documentId: id, status, total: String(totals.total) };
    }),
    movements: movements.map(({ businessId, referenceId, movementId, itemId, action, quantity }) => {
      const reported = { businessId, movementId, itemId, action, quantity: String(quantity) };
      return { ...reported, referenceId: String(referenceId), state: "applied" };
    }),
    chains: [{ connection: "default", businessId: "biz_1", events: 1, findings: [] }],
  };
}

/** The names of the invariants that the evidence speaks against. */
export function violated(evidence: Evidence): string[] {
  return Object.entries(INVARIANTS).flatMap(([name, findings]) => (findings(evidence).length > 0 ? [name] : []));
}

export function withChronicle(evidence: Evidence, changes: Partial<Chronicle>): Evidence {
  return { ...evidence, chronicles: evidence.chronicles.map((chronicle) => ({ ...chronicle, ...changes })) };
}

export function withAttention(
  evidence: Evidence,
  code: "stock-unknown" | "invalid-request" | "unexpected-answer",
  message: string,
): Evidence {
  const attention = { workflowId: WORKFLOW_ID, code, subject: REFERENCE, message, sinceMs: 0 };
  return { ...evidence, storm: { ...evidence.storm, attentions: [attention] } };
}
