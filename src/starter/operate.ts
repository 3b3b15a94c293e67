import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from "@temporalio/client";
import { z } from "zod";
import { type MessageReply, type Restarted, RESTARTED_MEMO, type UpdateRequests } from "../contract/messages.ts";
import { RESOLVING_UPDATES, type ResolvingUpdate, UPDATE_FORMS } from "../contract/updates.ts";
import { sha256Hex } from "../contract/ids.ts";
import { InvalidInputError, parseInput, printableText } from "../contract/schema/parse-input.ts";
import { unfilledFields, type UpdateExample } from "../contract/attention.ts";
import { ANSWER_WITHIN_MS, answeredInTime } from "./answered-in-time.ts";
import { bounded } from "./bound.ts";
import { answerTo, NotAllowedError, SaleNotFoundError, temporalError, workflowError } from "./errors.ts";
import { startByNumber } from "./start-sale.ts";
import { keyOfRun, leftToDo, refusedAsEnded, refusedByClosed, resultOf, stateOfEnded } from "./state-of-sale.ts";
import { MAIN_TASK_QUEUE, SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from "../contract/names.ts";
import type { SaleStart } from "../contract/schema/sale.ts";
import { closedStatusOf, doneIn, endOf, lastRunOf, runOf, startOfRun } from "./runs.ts";

/** Any of the updates with its JSON: the workflow checks it. */
export type OperatorAnswer = Pick<UpdateExample, "update" | "input">;

export interface AnswerOptions {
  /**
   * Names the answer, so that it can be sent again where its reply was lost: the same answer under the same id counts
   * once, and gets the first reply. From 1 to 200 characters. Default: every call is another answer.
   */
  requestId?: string | undefined;
}

export type Answers<Target> = {
  readonly [Update in ResolvingUpdate]: (
    target: Target,
    ...rest: Partial<UpdateRequests[Update]> extends UpdateRequests[Update]
      ? [request?: UpdateRequests[Update], options?: AnswerOptions]
      : [request: UpdateRequests[Update], options?: AnswerOptions]
  ) => Promise<MessageReply>;
};

const answerOptionsSchema = z.object({ requestId: printableText(200).optional() });

/** Plain JavaScript passes anything. The rest of it the workflow checks. */
const requestSchema = z.looseObject({});

const answerSchema = z.object({
  update: z.enum(RESOLVING_UPDATES, {
    error: ({ input }) =>
      input === "refund"
        ? "expected an operator's answer (for a refund call `refund` in place of `answer`)"
        : undefined,
  }),
  input: requestSchema,
});

/**
 * Temporal answers an update id that it knows with the first reply, whatever comes with it. So the request is part of
 * the id: another answer under the same `requestId` must not be lost.
 * @throws InvalidInputError
 */
function updateIdOf(update: string, request: object, options: AnswerOptions): string {
  const { requestId } = parseInput(answerOptionsSchema, options, "option of the answer");
  if (requestId === undefined) return randomUUID();
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  const sorted = given.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `${requestId}:${sha256Hex(JSON.stringify([update, sorted])).slice(0, 16)}`;
}

/** A restart asks the dead run first what had been asked of it, which takes as long as any question may. */
const RESTART_WITHIN_MS = 60_000;

/** Who answers, where the caller does not say: the user of this machine. A container's user may have no name. */
export function callerIdentity(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return hostname();
  }
}

/**
 * Each by its update's name.
 * @param identity who answers for a decision where the request does not say; default: user@host
 * @param idOf the workflow's id; default: what is given is one
 * @throws InvalidInputError, NotAllowedError, SaleNotFoundError, NoAnswerError, NoWorkerError, TemporalUnavailableError
 */
export function operations<Target = string>(
  client: Client,
  identity: string = callerIdentity(),
  idOf: (target: Target) => string = (id) => id as string,
) {
  /** @throws InvalidInputError where it is no object */
  const signed = <R extends object>(request: R & { by?: unknown }, what: string) => {
    parseInput(requestSchema, request, what);
    return { ...request, by: request.by ?? identity };
  };
  async function send(
    target: Target,
    update: ResolvingUpdate,
    request: object | undefined = "required" in UPDATE_FORMS[update] ? undefined : {},
    options: AnswerOptions = {},
  ): Promise<MessageReply> {
    const workflowId = idOf(target);
    const handle = client.workflow.getHandle(workflowId);
    const payload = signed(request as object, `input of the update ${update}`);
    const updateId = updateIdOf(update, { ...request }, options);
    const ask = () => handle.executeUpdate<MessageReply, [object]>(update, { args: [payload], updateId });
    try {
      return await bounded(client, ANSWER_WITHIN_MS, () =>
        answeredInTime(client, answerTo(`${update} of ${workflowId}`), ask),
      );
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw await whyUnreached(client, workflowId);
      if (error instanceof WorkflowUpdateFailedError) throw workflowError(error.cause ?? error);
      throw temporalError(error);
    }
  }
  const answers = Object.fromEntries(
    RESOLVING_UPDATES.map((update) => [
      update,
      (target: Target, request?: object, options?: AnswerOptions) => send(target, update, request, options),
    ]),
  ) as Answers<Target>;
  return {
    ...answers,
    /**
     * Starts a sale anew where its workflow was terminated, failed or timed out: the new run takes over what the runs
     * before did. Two restarts at the same moment give one run.
     * @throws NotAllowedError where its workflow is open, or completed; SaleNotFoundError, NoAnswerError
     */
    restart: async (target: Target, request: RestartRequest): Promise<RestartReply> => {
      const workflowId = idOf(target);
      const asked = signed(request, "restart");
      // Within the bound an error can say whom it has asked, and for how long.
      return await bounded(client, RESTART_WITHIN_MS, async () => {
        try {
          return await restartWorkflow(client, workflowId, asked);
        } catch (error) {
          throw temporalError(error);
        }
      });
    },
    /**
     * An operator's answer as `listAttention` shows it, once its texts are filled in.
     * @throws InvalidInputError where the update is none of these, or its input still has a text of the example
     */
    answer: async (target: Target, answer: OperatorAnswer, options?: AnswerOptions): Promise<MessageReply> => {
      const { update, input } = parseInput(answerSchema, answer, "answer");
      const problems = unfilledFields(update, input);
      if (problems.length > 0) throw new InvalidInputError(`input of the update ${update}`, problems);
      return await send(target, update, input, options);
    },
  };
}

/** Temporal says the same of a workflow that is closed, and of one that there never was. */
async function whyUnreached(client: Client, workflowId: string): Promise<unknown> {
  try {
    return (await refusedByClosed(client, workflowId)) ?? SaleNotFoundError.of(workflowId);
  } catch (error) {
    return temporalError(error);
  }
}

export interface RestartRequest {
  /** Why, in a few words; kept among the sale's decisions. */
  note: string;
  /** Who answers for it; default: the caller's identity. */
  by?: string | undefined;
}

const restartSchema = z.strictObject({
  note: z.string().refine((text) => text.trim() !== "", { error: "expected a text" }),
  by: z.string(),
});

export interface RestartReply {
  workflowId: string;
  runId: string;
  /** `restarted`: by this call. `running`: somebody else's restart came first, and this call started nothing. */
  result: "restarted" | "running";
}

/**
 * With the input of the last run; where that was refused, by the number of the sale that has it. The new run opens the
 * sale's row, and takes over what that knows
 * (https://github.com/fiscalflow/fiscalflow/blob/main/docs/operator-actions.md#when-a-workflow-was-terminated).
 * Temporal itself lets only one run of the id be open, and none begin after one that completed.
 */
export async function restartWorkflow(
  client: Client,
  workflowId: string,
  request: RestartRequest & { by: string },
): Promise<RestartReply> {
  const { note, by } = parseInput(restartSchema, request, "restart");
  const run = await lastRunOf(client, workflowId);
  if (!run) throw SaleNotFoundError.of(workflowId);
  if (run.type !== WORKFLOW_TYPES.sale)
    throw new NotAllowedError(`The workflow ${workflowId} is a ${run.type}: only sales are restarted.`);
  if (!closedStatusOf(run.status.name)) {
    const isRunning = run.status.name === "RUNNING";
    const is = isRunning
      ? "is running: what it waits for is answered by its updates (retry, cancel and so on)"
      : "is finished, so there is nothing to carry on";
    const { words, allowed } = isRunning ? { words: "", allowed: [] } : leftToDo(await resultOf(client, run));
    throw new NotAllowedError(
      `The workflow ${workflowId} ${is}. Only one that was terminated, failed or timed out is restarted.${words}`,
      [],
      allowed,
    );
  }
  const isRefused = (await endOf(client, run))?.refusal !== undefined;
  try {
    const handle = await client.workflow.start(WORKFLOW_TYPES.sale, {
      ...(await (isRefused ? nextRunByNumber : nextRun)(client, run, { note, by })),
      workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY",
      workflowIdConflictPolicy: "FAIL",
    });
    return { workflowId, runId: handle.firstExecutionRunId, result: "restarted" };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const { runId } = await client.workflow.getHandle(workflowId).describe();
    return { workflowId, runId, result: "running" };
  }
}

/** What lives of the attributes of the run before: the new one sets the others. */
const KEPT_ATTRIBUTES: readonly string[] = [SEARCH_ATTRIBUTES.business, SEARCH_ATTRIBUTES.invoice];

/** With the same input. What became of that, the sale's row knows. */
async function nextRun(client: Client, run: WorkflowExecutionDescription, decision: Pick<Restarted, "note" | "by">) {
  const { input } = await startOfRun(client, run);
  const { isBegun, sent } = await doneIn(client, run);
  const restarted: Restarted = { ...decision, atMs: Date.now(), sent };
  // Anybody may have started it, with anything. A refund that it has begun may have been given up since.
  const { refund, ...sale } = { ...(input as SaleStart) };
  const [staticSummary, staticDetails] = [await run.staticSummary(), await run.staticDetails()];
  return {
    workflowId: run.workflowId,
    taskQueue: MAIN_TASK_QUEUE,
    args: [{ ...sale, ...(refund && !isBegun && { refund }) }],
    memo: { ...run.memo, [RESTARTED_MEMO]: restarted },
    typedSearchAttributes: run.typedSearchAttributes.getAll().filter(({ key }) => KEPT_ATTRIBUTES.includes(key.name)),
    ...(staticSummary !== undefined && { staticSummary }),
    ...(staticDetails !== undefined && { staticDetails }),
  };
}

/**
 * The last run was a start that was refused: its input would be refused again. The sale that has the number is begun by
 * that alone, as its row has it.
 * @throws NotAllowedError where no sale has the number, or it has nothing to carry on
 */
async function nextRunByNumber(
  client: Client,
  run: WorkflowExecutionDescription,
  decision: Pick<Restarted, "note" | "by">,
) {
  const key = await keyOfRun(client, run);
  const state = await stateOfEnded(client, run, key);
  const refused = refusedAsEnded(run.workflowId, state);
  if (!key || (refused && !refused.allowed.includes("restart"))) throw refused ?? SaleNotFoundError.of(run.workflowId);
  const writer = state.source === "ledger" ? state.keptBy : undefined;
  const begun = writer && (await runOf(client, writer.workflowId, writer.runId));
  const restarted: Restarted = { ...decision, atMs: Date.now(), sent: state.numberTaken };
  const { memo, ...byNumber } = startByNumber(key, begun?.memo);
  return { ...byNumber, memo: { ...memo, [RESTARTED_MEMO]: restarted } };
}
