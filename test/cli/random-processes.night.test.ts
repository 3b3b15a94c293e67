import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";

import { NOT_FOR_PEOPLE, OUT_OF_REACH, randomCall, type RandomCall } from "../../src/cli/test-support/random-calls.ts";
import { FULL_SIZE, PATIENCE_MS } from "../rig/patience.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const PROCESSES = FULL_SIZE ? 100 : 20;

/**
 * What an operating system can hand over, of commands that end by themselves: without configuration, a worker and a
 * receiver do.
 */
const processCall = randomCall.filter(
  ({ argv }) => !argv.some((one) => one.includes("\0") || one === "demo" || one === "simulator"),
);

function run({ argv, stdin }: RandomCall): Promise<{ exitCode: number | null; said: string; complaint: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...argv], {
      env: { PATH: process.env["PATH"], ...OUT_OF_REACH, TEMPORAL_CONFIG_FILE: "/nonexistent" },
      timeout: PATIENCE_MS,
      killSignal: "SIGKILL",
    });
    const said = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr += text));
    // It may end before it has read everything.
    child.stdin.on("error", () => undefined).end(stdin);
    child.on("error", reject);
    child.on("close", (exitCode) =>
      resolve({ exitCode, said: `${said.stdout}${said.stderr}`, complaint: said.stderr.trim() }),
    );
  });
}

test(
  `${PROCESSES} processes with random arguments end with 0, 1 or 2, say why, and show no stack`,
  async () => {
    const seed = Number(process.env["FAST_CHECK_SEED"] ?? Date.now() % 2 ** 31);
    const waiting = fc.sample(processCall, { numRuns: PROCESSES, seed });
    const wrong: unknown[] = [];
    const work = async (): Promise<void> => {
      for (let call = waiting.pop(); call !== undefined; call = waiting.pop()) {
        const { exitCode, said, complaint } = await run(call);
        const isWell =
          exitCode !== null && exitCode <= 2 && !NOT_FOR_PEOPLE.test(said) && (exitCode === 0 || complaint !== "");
        if (!isWell) wrong.push({ repeatWith: `FAST_CHECK_SEED=${seed}`, call, exitCode, said });
      }
    };
    await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work));
    expect(wrong).toEqual([]);
  },
  4 * PATIENCE_MS,
);
