import { describe, expect, it } from "vitest";

import { Deadline } from "./deadline.ts";

function clocks() {
  const now = { monotonicMs: 5, wallMs: 1_700_000_000_000 };
  return { now, monotonicMs: () => now.monotonicMs, wallMs: () => now.wallMs };
}

describe("a deadline", () => {
  it("comes with the clock that has gone further", () => {
    for (const clock of ["monotonicMs", "wallMs"] as const) {
      const { now, ...read } = clocks();
      const deadline = new Deadline(1_000, read);
      now[clock] += 999;
      expect(deadline.leftMs).toBe(1);
      expect(deadline.isPast).toBe(false);
      now[clock] += 1;
      expect(deadline.isPast).toBe(true);
    }
  });

  it("is not put off by a wall clock that is set back", () => {
    const { now, ...read } = clocks();
    const deadline = new Deadline(1_000, read);
    now.wallMs -= 3_600_000;
    now.monotonicMs += 1_000;
    expect(deadline.isPast).toBe(true);
  });
});
