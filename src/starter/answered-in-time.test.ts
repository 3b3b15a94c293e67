import { getEventListeners } from "node:events";
import {
  type Client,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { QUERY_REFUSED } from "../contract/names.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { NoAnswerError, NoWorkerError, queryOf } from "./errors.ts";

// What Temporal's server says, word for word (its release 1.29).
const GIVEN_UP = grpc(
  9,
  "Unable to perform workflow execution update due to unexpected workflow task failure. WorkflowNotReady",
);
const PAST_ITS_DEADLINE = grpc(1, "Call cancelled");
const AWAY = grpc(14, "Connection dropped");
const LEFT_OUT = ApplicationFailure.nonRetryable(
  "Workflow Update is rejected because it wasn't processed by worker. Probably, Workflow Update is not supported by the worker.",
  "UnprocessedUpdate",
);
const NO_POLLER = grpc(9, "no poller seen for task queue recently, worker may be down");
const GIVEN_UP_BY_CALLER = grpc(1, "Cancelled on client");
const WRONG = grpc(3, "Invalid update id");

const deadlines: number[] = [];
const given: AbortSignal[] = [];
const client = {
  withDeadline: async (deadlineMs: number, ask: () => Promise<unknown>) => {
    deadlines.push(deadlineMs - Date.now());
    return await ask();
  },
  /** As Temporal's client, which never takes its listener off. */
  withAbortSignal: async (signal: AbortSignal, ask: () => Promise<unknown>) => {
    given.push(signal);
    signal.addEventListener("abort", () => undefined);
    return await ask();
  },
  options: { namespace: "default" },
  workflowService: { describeTaskQueue: async () => ({ pollers: [{}] }) },
} as unknown as Client;

describe("a question to Temporal with a time limit", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    deadlines.length = 0;
    given.length = 0;
  });
  afterEach(() => void vi.useRealTimers());

  test.each([
    ["an update whose workflow task failed under it", new ServiceError("Workflow Update failed", { cause: GIVEN_UP })],
    [
      "an update past the server's deadline",
      new WorkflowUpdateRPCTimeoutOrCancelledError("", { cause: PAST_ITS_DEADLINE }),
    ],
    ["a query past the server's deadline", new ServiceError("Failed to query Workflow", { cause: PAST_ITS_DEADLINE })],
    ["an update that its workflow task left out", new WorkflowUpdateFailedError("Workflow Update failed", LEFT_OUT)],
    ["a query that its worker refuses", new QueryNotRegisteredError(QUERY_REFUSED, 3)],
    ["one that is refused within a service error", new ServiceError("Failed", { cause: grpc(3, QUERY_REFUSED) })],
    ["a server that is away", new ServiceError("Failed to query Workflow", { cause: AWAY })],
  ])("%s is asked again", async (_what, trouble) => {
    const asked = answersAfter(3, trouble);
    const answer = answeredInTime(client, queryOf("sale/1"), asked);
    await vi.runAllTimersAsync();
    await expect(answer).resolves.toBe("the answer");
    expect(asked).toHaveBeenCalledTimes(4);
  });

  test("limits each try to less than the whole time, and all tries to the whole time", async () => {
    const started = Date.now();
    const asked = vi.fn<() => Promise<string>>(async () => {
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      throw new ServiceError("Failed to query Workflow", { cause: PAST_ITS_DEADLINE });
    });
    const [[told]] = await Promise.all([
      Promise.allSettled([answeredInTime(client, queryOf("sale/1"), asked)]),
      vi.runAllTimersAsync(),
    ]);
    expect(told).toMatchObject({ status: "rejected", reason: expect.any(NoAnswerError) });
    expect(Date.now() - started).toBeLessThanOrEqual(34_000);
    expect(Math.max(...deadlines)).toBe(5_000);
    expect(deadlines.at(-1)).toBeLessThan(5_000);
  });

  test("asks no more once the caller has given up, also between two tries", async () => {
    const stop = new AbortController();
    const asked = answersAfter(9, new ServiceError("Failed to query Workflow", { cause: AWAY }));
    const answer = answeredInTime(client, queryOf("sale/1"), asked, { signal: stop.signal });
    await vi.advanceTimersByTimeAsync(60);
    expect(asked).toHaveBeenCalledTimes(2);
    stop.abort(new Error("given up"));
    await expect(answer).rejects.toThrow("given up");
    expect(asked).toHaveBeenCalledTimes(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("leaves nothing on the caller's signal, and has a signal of its own for each try", async () => {
    const { signal } = new AbortController();
    const asked = answersAfter(20, new ServiceError("Failed to query Workflow", { cause: AWAY }));
    const answer = answeredInTime(client, queryOf("sale/1"), asked, { signal });
    await vi.runAllTimersAsync();
    await expect(answer).resolves.toBe("the answer");
    expect(new Set(given).size).toBe(21);
    expect([signal, ...given].map((one) => getEventListeners(one, "abort").length)).toEqual([0, ...given.map(() => 1)]);
  });

  test.each([
    ["nobody has asked for work for minutes", NO_POLLER, NoWorkerError],
    ["the caller gave up", GIVEN_UP_BY_CALLER, ServiceError],
    ["the question is wrong", WRONG, ServiceError],
    ["the workflow has no such query", grpc(3, `unknown queryType. ${QUERY_REFUSED}`), ServiceError],
  ])("fails at once when %s", async (_what, cause, expected) => {
    const asked = answersAfter(1, new ServiceError("Failed to query Workflow", { cause }));
    await expect(answeredInTime(client, queryOf("sale/1"), asked)).rejects.toBeInstanceOf(expected);
    expect(asked).toHaveBeenCalledTimes(1);
  });
});

function answersAfter(troubles: number, trouble: Error) {
  let asked = 0;
  return vi.fn<() => Promise<string>>(async () => {
    if (asked++ < troubles) throw trouble;
    return "the answer";
  });
}

function grpc(code: number, details: string): Error {
  return Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} });
}
