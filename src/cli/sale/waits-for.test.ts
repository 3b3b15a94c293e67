import { expect, test } from "vitest";

import type { ClosedRun } from "../../contract/closed-run.ts";
import { waitsForInWords } from "./trouble-notes.ts";

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
  ["the ledger alone knows it", { ...UNKNOWN, source: "ledger", waitingFor: "nothing" } as const, "nothing"],
])("what a sale waits for, where %s", (_, state, words) => {
  expect(waitsForInWords(state)).toBe(words);
});
