import "../rig/quiet-runtime.ts";
import { inject, onTestFinished, type TestContext } from "vitest";
import { examplesFolder, readDemoPlan } from "../../src/dev/demo/plan.ts";
import { type DemoStack, type DemoStackOptions, startDemoStack } from "../../src/dev/demo/start-demo-stack.ts";
import { namespaceOf } from "../rig/namespace.ts";

/** What the product's commands need to reach the suite's namespace. */
export function temporalOf(task: TestContext["task"]): { TEMPORAL_ADDRESS: string; TEMPORAL_NAMESPACE: string } {
  const address = inject("temporalAddress") ?? "";
  return { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespaceOf(task.file.filepath) };
}

/** Everything that the demo needs, with its workers, in this process; ended with the test. */
export async function demoStack(
  task: TestContext["task"],
  more: Pick<DemoStackOptions, "simulated" | "settings"> = {},
): Promise<DemoStack> {
  const ends: (() => Promise<unknown>)[] = [];
  onTestFinished(async () => {
    for (const end of ends.toReversed()) await end();
  });
  const plan = await readDemoPlan(examplesFolder());
  const environment = temporalOf(task);
  const temporal = {
    connectionOptions: { address: environment.TEMPORAL_ADDRESS },
    namespace: environment.TEMPORAL_NAMESPACE,
    uiUrl: undefined,
    isOwn: true,
    environment,
    stop: async () => undefined,
  };
  const workflowBundle = { codePath: inject("workflowBundlePath") };
  const stack = await startDemoStack({ plan, temporal, workflowBundle, ends, ...more });
  await stack.workers.start();
  return stack;
}

/** A worker that stops loses no task: another one takes them up. */
export async function restartWorkers({ workers }: DemoStack): Promise<void> {
  await workers.end("drain");
  await workers.start();
}
