import {
  CancellationScope,
  ChildWorkflowFailure,
  condition,
  ParentClosePolicy,
  startChild,
  uuid4,
} from "@temporalio/workflow";

import {
  type AdjustStockResult,
  keywordValue,
  type MoveStockInput,
  type MoveStockResult,
  moveStockWorkflowId,
  NO_BUSINESS,
  type StockMovement,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { rootMessage } from "../run/answered.ts";
import { businessAttribute, invoiceAttribute } from "../run/publish.ts";
import { MOST_AT_ONCE, type Try } from "./lane.ts";
import { whatBecameOf } from "./send-movement.ts";
import { Turns } from "./turns.ts";

/**
 * Sends one try of each of these movements by a child workflow. Where that ends without its answers, the claims tell what became of each.
 * @returns what each came to; a movement that is not in it was not sent
 */
export async function sendChunk(work: Work, tries: readonly Try[]): Promise<Map<StockMovement, AdjustStockResult>> {
  const { run, target } = work;
  // After a reset the runs of before may still have theirs: each chunk has an id of its own, which a replay draws again.
  const workflowId = moveStockWorkflowId({ ...target, number: run.invoice, chunk: uuid4() });
  try {
    const { answers } = await answersOf(work, workflowId, tries);
    const results = new Map(answers.map(({ referenceId, result }) => [referenceId, result]));
    return new Map(
      tries.flatMap(({ movement }) => {
        const result = results.get(movement.referenceId);
        return result ? [[movement, result] as const] : [];
      }),
    );
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const said = `The workflow ${workflowId}, which sent it, ended without its answers: ${rootMessage(error)}.`;
    const turns = new Turns(MOST_AT_ONCE);
    const ask = async ({ movement, asked }: Try) =>
      [movement, await turns.take(() => whatBecameOf(target, asked, said))] as const;
    return new Map(await Promise.all(tries.map(ask)));
  }
}

/** Once one of them is given up the child is asked to send no more; what it has sent is waited for. */
async function answersOf(
  { run, profile, target }: Work,
  workflowId: string,
  tries: readonly Try[],
): Promise<MoveStockResult> {
  const { application, businessId, businessWeight, keyReach, timings } = profile;
  const route = { application, businessId, businessWeight, keyReach, timings };
  const movements = tries.map(({ asked }) => asked);
  const scope = new CancellationScope();
  const child = await scope.run(() =>
    startChild<(input: MoveStockInput) => Promise<MoveStockResult>>(WORKFLOW_TYPES.moveStock, {
      workflowId,
      args: [{ ...target, retriedAtMs: run.retriedAtMs, route, movements }],
      // Without its run nobody would hear of what it sends; what has left must come to its claim all the same.
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      typedSearchAttributes: [
        { key: businessAttribute, value: run.businessId ?? NO_BUSINESS },
        { key: invoiceAttribute, value: keywordValue(run.invoice) },
      ],
      staticSummary: `${tries.length} stock movements of the workflow ${run.workflowId}`,
    }),
  );
  let ended = false;
  const answered = child.result().finally(() => (ended = true));
  answered.catch(() => undefined);
  await condition(() => ended || tries.some(({ givenUp }) => givenUp()));
  // Only one that was started is cancelled: whether it was, a cancelled start would not tell.
  if (!ended) scope.cancel();
  return await answered;
}
