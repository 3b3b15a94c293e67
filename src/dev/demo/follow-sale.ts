import { setTimeout as sleep } from "node:timers/promises";
import { WorkflowFailedError } from "@temporalio/client";
import { areSettled, type WorkflowState } from "../../contract/index.ts";
import { saleKeyOf } from "../../starter/sale-key.ts";
import type { Example } from "./demo-plan.ts";
import type { SaleProgress } from "./sale-progress.ts";
import type { DemoStack } from "./start-demo-stack.ts";

/** A query costs the sale no history. */
const LOOK_EVERY_MS = 200;
/** Without a worker nobody answers. */
const ANSWER_MS = 3_000;

interface Following {
  readonly signal: AbortSignal;
  readonly untilMs: number;
  readonly onChange: (sale: SaleProgress) => void;
}

/**
 * Starts one sale, refunds it where the plan says so, and tells of every change until it has ended. To be called within
 * `client.withAbortSignal`, so that an interruption ends its calls.
 */
export async function followSale(stack: DemoStack, sale: SaleProgress, following: Following): Promise<SaleProgress> {
  const { signal, untilMs, onChange } = following;
  const { example } = sale;
  let current = sale;
  const update = (change: Partial<SaleProgress>): void => {
    current = { ...current, ...change };
    onChange(current);
  };
  const end = (seen: Partial<SaleProgress>, problem?: string): SaleProgress => {
    update({ ...seen, endedAtMs: Date.now(), ...(problem !== undefined && { problem }) });
    return current;
  };
  try {
    await stack.starter.startSale(example.input);
    const workflow = watchEnd(stack, sale.workflowId);
    let refunding: Promise<unknown> | undefined;
    let refusal: string | undefined;
    for (;;) {
      const { closed, failure } = workflow;
      const state = await look(stack, sale, signal);
      const seen = state ? seenIn(state, closed) : { waitingFor: "a worker that answers" };
      const [attention] = state?.attentions ?? [];
      if (failure !== undefined) return end(seen, failure);
      if (refusal !== undefined) return end(seen, refusal);
      if (state && isAsMeant(state, example)) return end(seen);
      if (attention && attention.code !== example.expected.attention && !closed)
        return end(seen, `needs an operator: ${attention.code}: ${attention.message}`);
      if (state && (closed || (!example.refund && isDoneButOpen(state)))) return end(seen);
      if (Date.now() > untilMs) return end(seen, `has not ended in time; it waits for ${seen.waitingFor}`);
      update(seen);
      if (state?.stage === "completed" && example.refund && !refunding) {
        refunding = stack.starter.refund(saleKeyOf(example.input), example.refund);
        refunding.catch((error: unknown) => (refusal = `could not be refunded: ${reasonOf(error)}`));
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    }
  } catch (error) {
    signal.throwIfAborted();
    return end({}, reasonOf(error));
  }
}

/** Undefined where nobody answered; the next look may be luckier. */
async function look(stack: DemoStack, sale: SaleProgress, signal: AbortSignal): Promise<WorkflowState | undefined> {
  try {
    return await stack.client.withDeadline(Date.now() + ANSWER_MS, () =>
      stack.starter.getSale(saleKeyOf(sale.example.input)),
    );
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** The workflow's end, as far as it is known. */
function watchEnd(stack: DemoStack, workflowId: string): { closed: boolean; failure?: string } {
  const end: { closed: boolean; failure?: string } = { closed: false };
  stack.client.workflow
    .getHandle(workflowId)
    .result()
    .then(
      () => (end.closed = true),
      (error: unknown) => {
        if (error instanceof WorkflowFailedError) end.failure = reasonOf(error.cause ?? error);
      },
    );
  return end;
}

/** It waits for a refund that the demo will not ask for. */
function isDoneButOpen({ stage, stockMovements }: WorkflowState): boolean {
  return (stage === "completed" || stage === "credited") && areSettled(stockMovements);
}

/** It needs the operator that it is there to need, and nothing else is left to be done. */
function isAsMeant({ stage, attentions }: WorkflowState, { expected }: Example): boolean {
  const [only, ...more] = attentions;
  return stage === expected.stage && only !== undefined && only.code === expected.attention && more.length === 0;
}

function seenIn(state: WorkflowState, closed: boolean): Pick<SaleProgress, "state" | "stage" | "waitingFor"> {
  return { state, stage: state.stage, waitingFor: closed ? "nothing" : state.waitingFor };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
