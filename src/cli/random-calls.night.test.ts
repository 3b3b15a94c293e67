import fc from "fast-check";
import { expect, test } from "vitest";

import { FULL_SIZE } from "../../test/rig/patience.ts";
import { callCli } from "./test-support/call-cli.ts";
import { NOT_FOR_PEOPLE, OUT_OF_REACH, randomCall } from "./test-support/random-calls.ts";

const CONFIGURED = {
  ...OUT_OF_REACH,
  COMPLIANCE_BASE_URL: "http://127.0.0.1:9",
  COMPLIANCE_API_KEY: "cmp_sk_test_nobody",
  COMPLIANCE_BUSINESS_ID: "biz_1",
};

const CALLS = FULL_SIZE ? 10_000 : 2_000;
/** A call that takes longer hangs. */
const LONGEST_CALL_MS = 10_000;

test(`${CALLS} random calls of the command end with 0, 1, 2 or as interrupted, say why, and show no stack`, async () => {
  const ended: Record<number, number> = {};
  await fc.assert(
    fc.asyncProperty(randomCall, fc.boolean(), async ({ argv, stdin, endless }, configured) => {
      // Long-running commands are asked to stop before they begin.
      const { exitCode, stdout, stderr } = await callCli(argv, {
        stdin,
        env: configured ? CONFIGURED : OUT_OF_REACH,
        ...(endless && { signal: AbortSignal.abort() }),
      });
      ended[exitCode] = (ended[exitCode] ?? 0) + 1;
      expect(endless ? [0, 1, 2, 130] : [0, 1, 2]).toContain(exitCode);
      expect(`${stdout}${stderr}`).not.toMatch(NOT_FOR_PEOPLE);
      expect(exitCode === 0 || stderr.trim() !== "").toBe(true);
    }),
    { numRuns: CALLS, timeout: LONGEST_CALL_MS },
  );
  // They reach further than the parser: help, Temporal that is away, wrong input.
  const often = Object.keys(ended).filter((exitCode) => (ended[Number(exitCode)] ?? 0) > 20);
  expect(often).toEqual(expect.arrayContaining(["0", "1", "2"]));
}, 120_000);
