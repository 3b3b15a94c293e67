import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";

import { installQuietRuntime } from "../stack/quiet-runtime.ts";
import { say } from "../stack/progress.ts";
import { startStack } from "../stack/start-stack.ts";
import { table } from "../stack/table.ts";
import { type Case, type Till } from "./case.ts";
import { cases } from "./cases.ts";
import { openShop, SHOP_SCENARIO } from "./open-shop.ts";

/**
 * `npm run bench:calls`: what each way of a sale costs in calls, beside the least that it can cost. Exit code 1 where
 * one costs more.
 */
interface Counted {
  readonly one: Case;
  readonly operations: readonly string[];
}

/** How long a case may take, and how much longer for each of its calls. */
const CASE_MS = 60_000;
const CALL_MS = 100;
const NO_LIMIT = 1_000_000;
const HEAD = ["case", "calls", "least", "extra", "", "which", "why no fewer"];

async function count(till: Till, one: Case): Promise<Counted> {
  await one.before?.(till);
  till.simulator.resetCalls();
  const longestMs = CASE_MS + one.least * CALL_MS;
  const tooLate = delay(longestMs, undefined, { ref: false }).then(() => {
    throw new Error(`${one.name}: not done after ${longestMs / 1_000} s`);
  });
  await Promise.race([one.run(till), tooLate]);
  return { one, operations: till.simulator.calls().map(({ operation }) => operation) };
}

function tooMany({ one, operations }: Counted): boolean {
  return operations.length > one.least + (one.extra?.calls ?? 0);
}

function row(counted: Counted): string[] {
  const { one, operations } = counted;
  const counts = new Map<string, number>();
  for (const operation of operations) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  const which = [...counts].map(([operation, times]) => (times === 1 ? operation : `${times} × ${operation}`));
  const why = one.extra ? `${one.why}; extra: ${one.extra.why}` : one.why;
  return [
    one.name,
    String(operations.length),
    String(one.least),
    one.extra ? `+${one.extra.calls}` : "",
    tooMany(counted) ? "TOO MANY" : "ok",
    which.join(", "),
    why,
  ];
}

async function main(crowd: number): Promise<void> {
  installQuietRuntime();
  const lost = new AbortController();
  const gone = new Promise<never>((_, reject) =>
    lost.signal.addEventListener("abort", () => reject(lost.signal.reason), { once: true }),
  );
  say("starting Temporal, the ledger, the simulator and one worker process of the product");
  const stack = await startStack({ scenario: SHOP_SCENARIO, limitPerWindow: NO_LIMIT });
  try {
    const till = await openShop(stack, (error) => lost.abort(error));
    await Promise.race([till.sell("WARM-UP"), gone]);
    const counted: Counted[] = [];
    for (const one of cases(crowd)) {
      say(one.name);
      counted.push(await Promise.race([count(till, one), gone]));
    }
    process.stdout.write(`\n${table(HEAD, counted.map(row))}\n`);
    if (counted.some(tooMany)) process.exitCode = 1;
  } finally {
    await stack.close();
  }
}

const { values } = parseArgs({ options: { crowd: { type: "string", default: "50" } } });
await main(Number(values.crowd)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
