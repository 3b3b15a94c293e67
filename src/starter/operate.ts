import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from "@temporalio/client";
import { z } from "zod";

import type { MessageReply } from "../contract/messages.ts";
import {
  answerSchema,
  problemsOfAnswer,
  resolvingUpdate,
  UPDATE_DECLARATIONS,
  type UpdateRequests,
} from "../contract/schema/updates.ts";
import type { ResolvingUpdate } from "../contract/names.ts";
import { sha256Hex } from "../contract/sha256.ts";
import { InvalidInputError, parseInput } from "../contract/schema/parse-input.ts";
import { printableText } from "../contract/schema/fields.ts";
import { unfilledFields, type UpdateExample } from "../contract/attention.ts";
import { ANSWER_WITHIN_MS, answeredInTime } from "./answered-in-time.ts";
import { bounded } from "./bound.ts";
import { NotAllowedError, SaleNotFoundError, temporalError, workflowError } from "./errors.ts";
import { answerTo } from "./no-answer.ts";
import { refusedByClosed } from "./state-of-sale.ts";
import { type RestartReply, type RestartRequest, restartWorkflow } from "./restart.ts";

/** Any of the updates with its JSON: the workflow checks it. */
export type OperatorAnswer = Pick<UpdateExample, "update" | "input">;

export interface AnswerOptions {
  /**
   * Names the answer, so that it can be sent again where its reply was lost: the same answer under the same id counts
   * once, and gets the first reply. From 1 to 200 characters. Default: every call is another answer.
   */
  requestId?: string | undefined;
}

/** Each by its update's name. A request of which every field may be left out may be left out itself. */
export type Answers<Target> = {
  readonly [Update in ResolvingUpdate]: (
    target: Target,
    ...rest: Partial<UpdateRequests[Update]> extends UpdateRequests[Update]
      ? [request?: UpdateRequests[Update], options?: AnswerOptions]
      : [request: UpdateRequests[Update], options?: AnswerOptions]
  ) => Promise<MessageReply>;
};

/** Nothing, where a field must be there. */
function whereLeftOut(update: ResolvingUpdate): object {
  return UPDATE_DECLARATIONS[update].takes.safeParse({}).data as object;
}

const answerOptionsSchema = z.object({ requestId: printableText(200).optional() });

/** Plain JavaScript passes anything. The rest of it the workflow checks. */
const requestSchema = z.looseObject({});

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

/** A workflow names the first problem of a malformed answer: this names all, as an input's error does. */
function withProblems(error: Error, update: ResolvingUpdate, request: object): Error {
  return error instanceof NotAllowedError
    ? new NotAllowedError(error.message, problemsOfAnswer(update, request), error.allowed)
    : error;
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
 * The updates by which an operator resolves what a workflow waits for, each by its workflow id. Each says what is true
 * afterwards.
 * @param identity who answers for a decision where the request does not say; default: user@host
 * @throws InvalidInputError, NotAllowedError, SaleNotFoundError, NoAnswerError, NoWorkerError, TemporalUnavailableError
 */
export function operations(client: Client, identity: string = callerIdentity()) {
  /** @throws InvalidInputError where it is no object */
  const signed = <R extends object>(request: R & { by?: unknown }, what: string) => {
    parseInput(requestSchema, request, what);
    return { ...request, by: request.by ?? identity };
  };
  async function send(
    workflowId: string,
    update: ResolvingUpdate,
    request = whereLeftOut(update),
    options: AnswerOptions = {},
  ): Promise<MessageReply> {
    const handle = client.workflow.getHandle(workflowId);
    const payload = signed(request, `input of the update ${update}`);
    const updateId = updateIdOf(update, request, options);
    try {
      return await bounded(client, ANSWER_WITHIN_MS, () =>
        answeredInTime(client, answerTo(workflowId, update), () =>
          handle.executeUpdate<MessageReply, [object]>(update, { args: [payload], updateId }),
        ),
      );
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw await unreached(workflowId);
      if (error instanceof WorkflowUpdateFailedError)
        throw withProblems(workflowError(error.cause ?? error), update, payload);
      throw temporalError(error);
    }
  }
  /** Temporal says the same of a workflow that is closed, and of one that there never was. */
  async function unreached(workflowId: string): Promise<unknown> {
    try {
      return (await refusedByClosed(client, workflowId)) ?? new SaleNotFoundError(workflowId);
    } catch (error) {
      return temporalError(error);
    }
  }
  const answers = Object.fromEntries(
    resolvingUpdate.options.map((update) => [
      update,
      (workflowId: string, request?: object, options?: AnswerOptions) => send(workflowId, update, request, options),
    ]),
  ) as Answers<string>;
  return {
    ...answers,
    /**
     * Starts a sale anew whose last run was terminated, failed or timed out.
     * @throws NotAllowedError, SaleNotFoundError, NoAnswerError, NoWorkerError, TemporalUnavailableError
     */
    restart: async (workflowId: string, request: RestartRequest): Promise<RestartReply> => {
      const asked = signed(request, "restart");
      return await bounded(client, RESTART_WITHIN_MS, async () => {
        try {
          return await restartWorkflow(client, workflowId, asked);
        } catch (error) {
          throw temporalError(error);
        }
      });
    },
    /**
     * @throws InvalidInputError where the update is none of these, or its input still has a text of the example that
     * `listAttention` shows
     */
    answer: async (workflowId: string, answer: OperatorAnswer, options?: AnswerOptions) => {
      const { update, input } = parseInput(answerSchema, answer, "answer");
      const problems = unfilledFields(update, input);
      if (problems.length > 0) throw new InvalidInputError(`input of the update ${update}`, problems);
      return await send(workflowId, update, input, options);
    },
  };
}
