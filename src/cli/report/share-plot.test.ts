import { describe, expect, it } from "vitest";

import { sharePlot } from "./share-plot.ts";

interface Bar {
  tone: string;
  left: number;
  right: number;
}

function barsOf(plot: string): Bar[] {
  return [...plot.matchAll(/<rect class="(\w+)" x="([\d.]+)" y="\d+" width="([\d.]+)"/g)].map(
    ([, tone = "", x, width]) => ({ tone, left: Number(x), right: Number(x) + Number(width) }),
  );
}

describe("the plot of shares", () => {
  it("draws less than nothing to the left of the line, in the colour of credit notes and with its sign", () => {
    const plot = sharePlot(
      "Net tax by rate",
      [
        { name: "B 16 %", amount: "300" },
        { name: "E 8 %", amount: "-100" },
        { name: "A 0 %", amount: "0" },
      ],
      "sale",
    );
    const [more, less, ...others] = barsOf(plot);
    expect(others).toEqual([]);
    expect([more?.tone, less?.tone]).toEqual(["sale", "note"]);
    const zero = Number(/<line class="axis" x1="([\d.]+)"/.exec(plot)?.[1]);
    expect(more?.left).toBeCloseTo(zero, 0);
    expect(less?.right).toBeCloseTo(zero, 0);
    const lengths = [more, less].map((bar) => (bar ? bar.right - bar.left : 0));
    expect((lengths[0] ?? 0) / (lengths[1] ?? 0)).toBeCloseTo(3, 1);
    expect(plot).toContain(">-100.00</text>");
  });

  it("has no line, and all bars to the right, where nothing is negative", () => {
    const plot = sharePlot("Risk", [{ name: "rejected", amount: "700.2" }], "risk");
    expect(barsOf(plot).map(({ tone }) => tone)).toEqual(["risk"]);
    expect(plot).not.toContain("<line");
  });

  it.each(["1655512644.48", "-1655512644.48"])("ends its longest bar before the amount %s", (amount) => {
    const [bar] = barsOf(sharePlot("Net tax by rate", [{ name: "B 16 %", amount }], "sale"));
    expect(bar?.right).toBeLessThanOrEqual(410 - 16 * 7.5);
  });
});
