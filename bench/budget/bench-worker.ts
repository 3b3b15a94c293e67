import { fileURLToPath } from "node:url";
import { NativeConnection, Worker } from "@temporalio/worker";

import { bundleQuietly } from "../../src/worker/bundle-workflows.ts";
import { installQuietRuntime } from "../stack/quiet-runtime.ts";
import type { BenchStack } from "../stack/start-stack.ts";
import { BENCH_TASK_QUEUE } from "./load/temporal-engine.ts";

/** Runs the workflows of the benchmark in this process until the stack closes. */
export async function startBenchWorker(stack: BenchStack): Promise<void> {
  installQuietRuntime();
  const workflowsPath = fileURLToPath(new URL("workflows.js", import.meta.url));
  const { code } = await bundleQuietly(workflowsPath);
  const connection = await NativeConnection.connect({ address: stack.temporalAddress });
  stack.onClose(() => connection.close());
  const worker = await Worker.create({ connection, taskQueue: BENCH_TASK_QUEUE, workflowBundle: { code } });
  const running = worker.run();
  stack.onClose(async () => {
    worker.shutdown();
    await running;
  });
}
