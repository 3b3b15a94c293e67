import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Example } from "./demo-plan.ts";
import { liveView } from "./live-view.ts";
import type { SaleProgress } from "./sale-progress.ts";
import { plainPaint } from "./screens.ts";

const example: Example = {
  path: "examples/01-accepted-at-once.json",
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

describe("the live view without a terminal", () => {
  it("writes a plain line for each change of a stage, and none for what does not change", () => {
    const screen = new FakeScreen(false);
    const view = liveView(screen, 1, { paint: plainPaint });
    for (const sale of [starting, submitting, submitting, { ...submitting, waitingFor: "more" }, done])
      view.show([sale]);
    view.end();
    expect(screen.written).toBe(
      [
        "DUKA-1001  accepted at once  submitting          waits for the answer\n",
        "DUKA-1001  accepted at once  completed           done\n",
      ].join(""),
    );
  });

  it("says on the last line what went wrong, as one line", () => {
    const screen = new FakeScreen(false);
    const view = liveView(screen, 1, { paint: plainPaint });
    view.show([{ ...done, stage: "rejected", problem: "needs an operator:\n  no" }]);
    expect(screen.written).toMatch(/rejected +needs an operator: no\n$/);
  });
});

describe("the live view on a terminal", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("draws a line per sale and then draws over it", () => {
    const screen = new FakeScreen(true);
    let nowMs = 300;
    const view = liveView(screen, 1, { paint: plainPaint, nowMs: () => nowMs });
    view.show([submitting]);
    vi.advanceTimersByTime(100);
    expect(screen.written).toBe(
      "\u001b[?25l\u001b[2K⠸  DUKA-1001  accepted at once  submitting           0.3 s  the answer\n",
    );
    screen.written = "";
    nowMs = 5_000;
    view.show([done]);
    view.end();
    expect(screen.written).toBe(
      "\u001b[1A\u001b[2K✔  DUKA-1001  accepted at once  completed            1.3 s\n\u001b[?25h",
    );
  });

  it("never lets a line wrap", () => {
    const screen = new FakeScreen(true, 70);
    const view = liveView(screen, 1, { paint: plainPaint, nowMs: () => 300 });
    view.show([{ ...submitting, waitingFor: "something that takes very many words\nand lines to tell" }]);
    view.end();
    const [line = ""] = stripVTControlCharacters(screen.written).split("\n");
    expect(line.length).toBeLessThan(70);
    expect(line).toMatch(/…$/);
  });

  it("marks a sale that ended otherwise than it should have", () => {
    const screen = new FakeScreen(true);
    const view = liveView(screen, 1, { paint: plainPaint });
    view.show([{ ...done, stage: "rejected", problem: "needs an operator" }]);
    view.end();
    expect(screen.written).toContain("✖  DUKA-1001  accepted at once  rejected             1.3 s  needs an operator");
  });

  it("writes plain lines where there are more sales than rows", () => {
    const screen = new FakeScreen(true, 100, 2);
    const view = liveView(screen, 5, { paint: plainPaint });
    view.show([done]);
    view.end();
    expect(screen.written).toBe("DUKA-1001  accepted at once  completed           done\n");
  });
});
