import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Example } from "./plan.ts";
import { saleWatch, type SaleProgress, type Screen } from "./run-sales.ts";

const example: Example = {
  title: "accepted at once",
  invoice: "DUKA-1001",
  input: { traderInvoiceNumber: "DUKA-1001", saleId: "sal_1" },
  refund: undefined,
  expected: { stage: "completed" },
};
const starting: SaleProgress = {
  example,
  workflowId: "sale/default/biz_demo/DUKA-1001",
  stage: "starting",
  waitingFor: "its start",
  startedAtMs: 0,
};
const submitting: SaleProgress = { ...starting, stage: "submitting", waitingFor: "the answer" };
const done: SaleProgress = { ...starting, stage: "completed", waitingFor: "nothing", endedAtMs: 1_300 };

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

function written(changes: readonly SaleProgress[], screen: Partial<Screen> = {}): string {
  let text = "";
  const watch = saleWatch({ ...screen, write: (piece) => (text += piece) });
  for (const sale of changes) watch([sale]);
  return text;
}

it("the log of sales has a line for each change of a stage, and none for what does not change", () => {
  expect(written([starting, submitting, submitting, { ...submitting, waitingFor: "more" }, done])).toBe(
    [
      "·  DUKA-1001  accepted at once  submitting           0.0 s  waits for the answer\n",
      "✔  DUKA-1001  accepted at once  completed            1.3 s\n",
    ].join(""),
  );
});

it("the log of sales says on one line what went wrong", () => {
  expect(written([{ ...done, stage: "rejected", problem: "needs an operator:\n  no" }])).toMatch(
    /^✖ .* rejected .* needs an operator: +no\n$/,
  );
});

it("the table of sales stays in its place at a terminal, and no line of it breaks", () => {
  const terminal = { isTTY: true, columns: 62, rows: 24 };
  expect(written([starting, submitting, done], terminal)).toBe(
    [
      "\u001b[2K·  DUKA-1001  accepted at once  starting             0.0 s  w\n",
      "\u001b[1A\u001b[2K·  DUKA-1001  accepted at once  submitting           0.0 s  w\n",
      "\u001b[1A\u001b[2K✔  DUKA-1001  accepted at once  completed            1.3 s\n",
    ].join(""),
  );
});

it("the sales are a log at a terminal that has too few lines for the table", () => {
  expect(written([starting, done], { isTTY: true, columns: 60, rows: 1 })).toBe(written([starting, done]));
});
