import { callCli } from "../../src/cli/test-support/call-cli.ts";
import type { DemoStack } from "../../src/dev/demo/start-demo-stack.ts";
import { compareWithLedger } from "./compare-with-ledger.ts";

/** The jobs of the demo, by the commands that it runs. Returns what went wrong. */
export async function runBackOffice(
  stack: DemoStack,
  temporal: Record<string, string>,
  onStart: (job: string) => void = () => undefined,
): Promise<string[]> {
  const [batch] = stack.plan.scenario.accounting.syncBatches;
  const jobs = ["items register", "purchases sync", "bill-payments sync", `batch process ${batch?.id}`, "reconcile"];
  const problems: string[] = [];
  for (const job of jobs) {
    onStart(job);
    const { exitCode, stdout, stderr } = await callCli([...job.split(" "), "--wait"], {
      env: { ...stack.environment, ...temporal },
    });
    // Findings are what the reconciliation is there to show.
    if (exitCode !== 0 && !(job === "reconcile" && stdout !== "")) problems.push(`${job}: ${stderr}`);
  }
  return [...problems, ...(await compareWithLedger(stack))];
}
