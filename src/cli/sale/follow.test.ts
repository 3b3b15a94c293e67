import { expect, test } from "vitest";

import { type Attention, outcomeOfState, type StockMovement, type WorkflowState } from "../../contract/index.ts";
import { progressLine } from "./follow.ts";

const needs = (code: Attention["code"]): Attention => ({ code, message: "why", sinceMs: 0 }) as Attention;

test.each([
  [[], "resolving-items; stock movements: 1 sending; 2 callbacks"],
  [["mismatch"], "resolving-items, needs an operator: mismatch; stock movements: 1 sending; 2 callbacks"],
  [
    ["mismatch", "stock-refused"],
    "resolving-items, needs an operator: mismatch, stock-refused; stock movements: 1 sending; 2 callbacks",
  ],
] as const)("a line for each change says all that an operator is needed for: %j", (codes, line) => {
  const attentions = codes.map(needs);
  const stockMovements = [{ state: "sending" } as StockMovement];
  const state = { stage: "resolving-items", attentions, document: null, stockMovements } as unknown as WorkflowState;
  expect(progressLine(outcomeOfState(state), attentions, 2)).toBe(line);
});
