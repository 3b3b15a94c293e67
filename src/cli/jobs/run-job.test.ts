import { type Client, ServiceError } from "@temporalio/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { jsonText } from "../output.ts";
import { purchasesSync } from "./jobs.ts";
import { followJob } from "./run-job.ts";

// Fake timers do not reach a module of Node's.
vi.mock("node:timers/promises", () => ({
  setTimeout: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}));

const NO_POLLER = grpc(9, "no poller seen for task queue recently, worker may be down");
const PAST_ITS_DEADLINE = grpc(4, "Deadline exceeded");
const WORKFLOW_ID = "sync-purchases/default/biz_1";
const PROGRESS = { round: 1, pages: 1, rows: 2, added: 2, changed: 0 };
const STATE = { workflow: "syncPurchases", waitingFor: "the API", progress: PROGRESS, attentions: [], decisions: [] };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The JSON that is printed of a job that runs. @param ask what comes of each query, of which the client knows the deadline */
async function followed(waitSeconds: number | undefined, ask: (withinMs: number) => Promise<unknown>) {
  let withinMs = 0;
  const client = {
    withDeadline: async (deadlineMs: number, work: () => Promise<unknown>) => {
      withinMs = deadlineMs - Date.now();
      return await work();
    },
    withAbortSignal: async (_signal: AbortSignal, work: () => Promise<unknown>) => await work(),
    options: { namespace: "default", loadedDataConverter: { payloadCodecs: [] } },
    workflowService: { describeTaskQueue: async () => ({ pollers: [{}] }) },
    workflow: {
      getHandle: () => ({
        describe: async () => ({ workflowId: WORKFLOW_ID, status: { name: "RUNNING" }, raw: {} }),
        query: () => ask(withinMs),
      }),
    },
  } as unknown as Client;
  let stdout = "";
  const context = {
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: () => true },
    signal: new AbortController().signal,
  } as unknown as Parameters<typeof followJob>[0];
  await followJob(context, client, purchasesSync, {
    flags: { json: true, wait: waitSeconds ?? true },
    scope: { connection: "default", businessId: "biz_1" },
    workflowId: WORKFLOW_ID,
  });
  return stdout;
}

const stillRunning = (state: unknown): string => `${jsonText({ workflowId: WORKFLOW_ID, state }, 2)}\n`;

const silent = async (withinMs: number): Promise<never> => {
  await new Promise((resolve) => setTimeout(resolve, withinMs));
  throw new ServiceError("Failed to query Workflow", { cause: PAST_ITS_DEADLINE });
};
const refused = (): Promise<never> =>
  Promise.reject(new ServiceError("Failed to query Workflow", { cause: NO_POLLER }));

test.each([
  ["no worker answers", silent],
  ["no worker has been there for minutes", refused],
])("a job that is waited for goes on by itself where %s, once the time is up", async (_what, ask) => {
  const startedAtMs = Date.now();
  const [told] = await Promise.all([followed(10, ask), vi.runAllTimersAsync()]);
  expect(told).toBe(stillRunning(null));
  expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(10_000);
  expect(Date.now() - startedAtMs).toBeLessThan(13_000);
});

test("what a worker said last stands where it answers no more, and the time is up", async () => {
  let asked = 0;
  const [told] = await Promise.all([
    followed(5, async (withinMs) => (asked++ < 2 ? STATE : await silent(withinMs))),
    vi.runAllTimersAsync(),
  ]);
  expect(told).toBe(stillRunning(STATE));
});

test("a worker is asked where the caller has no time to wait", async () => {
  expect(await followed(0, async () => STATE)).toBe(stillRunning(STATE));
});

test("a caller who waits for longer hears that no worker answers", async () => {
  const [[told]] = await Promise.all([Promise.allSettled([followed(undefined, silent)]), vi.runAllTimersAsync()]);
  expect(told).toMatchObject({ status: "rejected", reason: { code: "NoAnswer" } });
});

function grpc(code: number, details: string): Error {
  return Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} });
}
