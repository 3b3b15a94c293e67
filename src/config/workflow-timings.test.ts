import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadConfig } from "./load-config.ts";
import { workflowTimings } from "./settings.ts";

const { timings } = loadConfig({ env: {} });

describe("the timings of a workflow", () => {
  it("resubmit three times within five minutes by default, soon at first", () => {
    expect(workflowTimings(timings)).toEqual({
      callTimeoutMs: 30_000,
      resubmissionDelaysMs: [18_461, 55_384, 166_153],
      firstPollMs: 5_000,
      firstPollWithCallbackMs: 60_000,
      slowAfterMs: 3_600_000,
      unservedAfterMs: 86_400_000,
      keyLifeMs: 86_400_000,
      refundWindowMs: 86_400_000,
    });
  });

  it("resubmit as often as configured, with growing pauses, within the window", () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(86_400_000), (resubmissions, resubmissionWindowMs) => {
        const { resubmissionDelaysMs } = workflowTimings({ ...timings, resubmissions, resubmissionWindowMs });
        expect(resubmissionDelaysMs).toHaveLength(resubmissions);
        expect(resubmissionDelaysMs.reduce((sum, delayMs) => sum + delayMs, 0)).toBeLessThanOrEqual(
          resubmissionWindowMs,
        );
        expect([...resubmissionDelaysMs].sort((a, b) => a - b)).toEqual(resubmissionDelaysMs);
      }),
    );
  });
});
