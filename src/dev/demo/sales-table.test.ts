import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Example } from "./plan.ts";
import type { SaleProgress } from "./run-sales.ts";
import { salesTable } from "./sales-table.ts";

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

class FakeScreen {
  written = "";
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;

  constructor(isTTY: boolean, columns = 100, rows = 40) {
    this.isTTY = isTTY;
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): boolean {
    this.written += text;
    return true;
  }
}

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the table of sales without a terminal", () => {
  it("writes a plain line for each change of a stage, and none for what does not change", () => {
    const screen = new FakeScreen(false);
    const view = salesTable(screen, 1, false);
    for (const sale of [starting, submitting, submitting, { ...submitting, waitingFor: "more" }, done])
      view.show([sale]);
    view.end();
    expect(screen.written).toBe(
      [
        "·  DUKA-1001  accepted at once  submitting           0.0 s  waits for the answer\n",
        "✔  DUKA-1001  accepted at once  completed            1.3 s\n",
      ].join(""),
    );
  });

  it("says on the last line what went wrong, as one line", () => {
    const screen = new FakeScreen(false);
    const view = salesTable(screen, 1, false);
    view.show([{ ...done, stage: "rejected", problem: "needs an operator:\n  no" }]);
    expect(screen.written).toMatch(/rejected .* needs an operator: +no\n$/);
  });
});

describe("the table of sales on a terminal", () => {
  it("draws a line per sale and then draws over it", () => {
    const screen = new FakeScreen(true);
    const view = salesTable(screen, 1, false);
    view.show([submitting]);
    vi.advanceTimersByTime(300);
    screen.written = screen.written.slice(screen.written.lastIndexOf("\u001b[1A"));
    expect(screen.written).toBe(
      "\u001b[1A\u001b[2K⠸  DUKA-1001  accepted at once  submitting           0.3 s  waits for the answer\n",
    );
    screen.written = "";
    view.show([done]);
    view.end();
    expect(screen.written).toBe(
      "\u001b[1A\u001b[2K✔  DUKA-1001  accepted at once  completed            1.3 s\n\u001b[?25h",
    );
  });

  it("never lets a line wrap", () => {
    const screen = new FakeScreen(true, 70);
    const view = salesTable(screen, 1, false);
    view.show([{ ...submitting, waitingFor: "something that takes very many words\nand lines to tell" }]);
    view.end();
    const [line = ""] = stripVTControlCharacters(screen.written).split("\n");
    expect(line.length).toBeLessThan(70);
    expect(line).toMatch(/…$/);
  });

  it("marks a sale that ended otherwise than it should have", () => {
    const screen = new FakeScreen(true);
    const view = salesTable(screen, 1, false);
    view.show([{ ...done, stage: "rejected", problem: "needs an operator" }]);
    view.end();
    expect(screen.written).toContain("✖  DUKA-1001  accepted at once  rejected             1.3 s  needs an operator");
  });

  it("writes plain lines where there are more sales than rows", () => {
    const screen = new FakeScreen(true, 100, 2);
    const view = salesTable(screen, 5, false);
    view.show([done]);
    view.end();
    expect(screen.written).toBe("✔  DUKA-1001  accepted at once  completed            1.3 s\n");
  });
});
