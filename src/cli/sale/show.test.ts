import { expect, test } from "vitest";

import type { ClosedRun } from "../../contract/messages.ts";
import {
  type Attention,
  type AttentionCode,
  RESOLVED_BY,
  type SaleDocument,
  type Stage,
} from "../../contract/index.ts";
import type { SaleState } from "../../starter/index.ts";
import { renderState } from "./show.ts";

const DOCUMENT: SaleDocument = {
  id: "sale_1",
  type: "sale",
  status: "completed",
  traderInvoiceNumber: "INV-1",
  totals: { total: 700, taxAmount: 96.55 },
} as SaleDocument;

function page(code: AttentionCode, stage: Stage = "completed", more: Partial<Attention> = {}): string {
  return pageOf({ stage, waitingFor: "an operator", attentions: [{ code, ...more }] });
}

function pageOf({
  attentions = [],
  ...more
}: Partial<Record<keyof SaleState, unknown>> & { attentions?: readonly { code: AttentionCode }[] }): string {
  const state = {
    source: "workflow",
    stage: "completed",
    document: DOCUMENT,
    attentions: attentions.map((one) => ({ message: "", sinceMs: 0, resolvedBy: RESOLVED_BY[one.code], ...one })),
    stockMovements: [],
    decisions: [],
    callbacksReceived: 0,
    numberTaken: true,
    nextWait: 0,
    ...more,
  } as unknown as SaleState;
  return renderState("Sale INV-1", "sale/default/biz_2/INV-1", state, { invoice: "INV-1", business: "biz_2" });
}

test("a movement of unknown outcome whose item has no known balance says so once", () => {
  const said = page("stock-unknown", "completed", { subject: "INV-1/item_tea/sold", evidence: {} });
  expect(said.match(/No balance of the item is known/g)).toHaveLength(1);
});

test("a signed document that differs from its sale shows the commands that credit or correct it", () => {
  expect(page("mismatch")).toContain(
    [
      "    fiscalflow sale acknowledge INV-1 --code mismatch --note '<how you know>' --business biz_2",
      "  If the document is wrong, credit it, or credit it and issue the corrected sale:",
      "    fiscalflow sale refund INV-1 --reason '<code>' --number '<of the credit note>' --business biz_2",
      "    fiscalflow sale correct INV-1 '<file of the corrected sale>' --reason '<code>' --number '<of the credit note>' --business biz_2",
    ].join("\n"),
  );
});

test("a document that differs and cannot be credited yet shows no command that credits it", () => {
  const said = page("mismatch", "submitting");
  expect(said).toContain("fiscalflow sale acknowledge INV-1");
  expect(said).not.toContain("fiscalflow sale refund");
});

const CLOSED: ClosedRun = { status: "terminated", atMs: 0 };
const RUNNING = {
  source: "workflow",
  attentions: [],
  stockMovements: [],
  waitingFor: "a refund, until 03:31 EAT",
} as const;
const UNKNOWN = { ...RUNNING, attentions: [{ code: "stock-unknown" }, { code: "authority-slow" }] } as const;

test.each([
  ["nobody is needed", RUNNING, "a refund, until 03:31 EAT"],
  ["an operator is needed", UNKNOWN, "an operator: stock-unknown; and for a refund, until 03:31 EAT"],
  [
    "it waits for nothing else",
    { ...RUNNING, attentions: [{ code: "rejected" }], waitingFor: "an operator: the authority said no" } as const,
    "an operator: rejected",
  ],
  [
    "a movement is being sent",
    { ...RUNNING, stockMovements: [{ referenceId: "INV-1/tea/sold", state: "sending" }] } as const,
    "the answer to a stock movement; and for a refund, until 03:31 EAT",
  ],
  [
    "the key is refused for its document",
    { ...RUNNING, attentions: [{ code: "credentials" }], waitingFor: "the answer to the sale's creation" } as const,
    "an operator: credentials",
  ],
  [
    "the key is refused for a movement",
    {
      ...RUNNING,
      attentions: [{ code: "credentials", subject: "INV-1/tea/sold" }],
      stockMovements: [{ referenceId: "INV-1/tea/sold", state: "planned" }],
    } as const,
    "an operator: credentials; and for a refund, until 03:31 EAT",
  ],
  ["it is closed", { ...UNKNOWN, closed: CLOSED, waitingFor: "nothing: it ended" }, "nothing: it ended"],
  [
    "the ledger alone knows it",
    { ...UNKNOWN, source: "ledger", keptAtMs: 0, waitingFor: "nothing" } as const,
    "nothing",
  ],
])("what a sale waits for, where %s", (_, state, words) => {
  expect(/Waits for +(.*)/.exec(pageOf(state))?.[1]).toBe(words);
});
