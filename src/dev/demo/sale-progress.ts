import type { Stage, WorkflowState } from "../../contract/index.ts";
import type { Example } from "./demo-plan.ts";

/** Where one sale of the demo stands. */
export interface SaleProgress {
  readonly example: Example;
  readonly workflowId: string;
  /** `starting` until the workflow has its first stage. */
  readonly stage: Stage | "starting";
  /** In words: what it waits for. */
  readonly waitingFor: string;
  readonly startedAtMs: number;
  /** Set once nothing more will happen to it in the demo. */
  readonly endedAtMs?: number;
  /** The latest state of the workflow. */
  readonly state?: WorkflowState;
  /** Why it ended otherwise than it should have. */
  readonly problem?: string;
}

export function isOpen(sale: SaleProgress): boolean {
  return sale.endedAtMs === undefined;
}

/** The sentence about a sale that has ended; undefined where its stage says all. */
export function endText({ problem, example }: SaleProgress): string | undefined {
  const { attention } = example.expected;
  return problem ?? (attention === undefined ? undefined : `needs an operator, as meant: ${attention}`);
}
