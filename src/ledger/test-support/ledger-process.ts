import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/**
 * Answers each line of its standard input, a reference, with the answer to a take of it; ends in order when the input
 * ends.
 */
const program = (index: string, home: string): string => `
  import { createInterface } from "node:readline";
  import { openLedger } from ${JSON.stringify(index)};
  const ledger = openLedger({ home: ${JSON.stringify(home)} });
  await ledger.ready();
  console.log("ready");
  const movement = { itemId: "item_1", action: "DEDUCT", quantity: 1, unitPrice: 1 };
  for await (const referenceId of createInterface({ input: process.stdin })) {
    const key = { connection: "default", businessId: undefined, referenceId };
    const token = String(process.pid);
    const by = { token, execution: token, underWayForMs: 0, scheduledAtMs: 0, writer: { workflowId: "test", runId: "run" }, nowMs: Date.now() };
    const of = { type: "sale", number: "INV-1", purpose: "sold" };
    const claim = { ...key, generation: 1, of, movement, ...by };
    console.log(await ledger.stock.take(claim).then(({ kind }) => kind, ({ name }) => name));
  }
  await ledger.close();
`;

/** A process of its own that has a ledger on the home. */
export interface LedgerProcess {
  readonly process: ChildProcess;
  take(referenceId: string): Promise<string>;
  /** Resolves with the exit code. */
  close(): Promise<number | null>;
  kill(): Promise<void>;
}

export async function startLedgerProcess(index: string, home: string): Promise<LedgerProcess> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program(index, home)], {
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const line = await lines.next();
    return line.done === true ? "ended" : line.value;
  };
  const ready = await next();
  if (ready !== "ready") throw new Error(`The process did not get ready: ${ready}`);
  const exited = once(child, "exit") as Promise<[number | null]>;
  return {
    process: child,
    async take(referenceId) {
      child.stdin.write(`${referenceId}\n`);
      return next();
    },
    async close() {
      child.stdin.end();
      return (await exited)[0];
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
