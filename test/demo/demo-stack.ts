import "../rig/quiet-runtime.ts";
import { inject, onTestFinished, type TestContext } from "vitest";
import { Cleanup } from "../../src/dev/demo/cleanup.ts";
import { examplesFolder } from "../../src/dev/demo/examples-folder.ts";
import { readDemoPlan } from "../../src/dev/demo/read-demo-plan.ts";
import { type DemoStack, type DemoStackOptions, startDemoStack } from "../../src/dev/demo/start-demo-stack.ts";
import { namespaceOf } from "../rig/namespace.ts";

/** Everything that the demo needs, with its workers, in this process; ended with the test. */
export async function demoStack(
  task: TestContext["task"],
  dialects?: DemoStackOptions["dialects"],
): Promise<DemoStack> {
  const cleanup = new Cleanup();
  onTestFinished(async () => void (await cleanup.run()));
  const plan = await readDemoPlan(examplesFolder(), process.cwd());
  const temporal = {
    connectionOptions: { address: inject("temporalAddress") },
    namespace: namespaceOf(task.file.filepath),
    uiUrl: undefined,
    own: true,
  };
  const workflowBundle = { codePath: inject("workflowBundlePath") };
  const stack = await startDemoStack({ plan, temporal, workflowBundle, cleanup, dialects });
  await stack.workers.start();
  return stack;
}

/** A worker that stops loses no task: another one takes them up. */
export async function restartWorkers({ workers }: DemoStack): Promise<void> {
  await workers.drain();
  await workers.start();
}
