import { msToTs } from "@temporalio/common/lib/time.js";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { Client, Connection, ServiceError, WorkflowNotFoundError } from "@temporalio/client";
import type { WorkflowSignalInput } from "@temporalio/client";
import { afterEach, describe, expect, it } from "vitest";
import { createTemporalSignaller } from "./temporal-signaller.ts";

const cleanups: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A client whose signals end as given, without a server. */
function clientWhoseSignals(end: (input: WorkflowSignalInput) => Promise<void>): Client {
  const connection = Connection.lazy({ address: "127.0.0.1:1" });
  cleanups.push(() => connection.close());
  return new Client({ connection, interceptors: { workflow: [{ signal: end }] } });
}

describe("the signaller of callbacks", () => {
  it("sends callbackReceived with the event to the workflow by its id", async () => {
    const sent: WorkflowSignalInput[] = [];
    const client = clientWhoseSignals((input) => {
      sent.push(input);
      return Promise.resolve();
    });
    const signaller = createTemporalSignaller(client);
    expect(await signaller.signalCallback("sale/default/-/INV-1", { event: "sale.completed" })).toBe("delivered");
    expect(sent).toMatchObject([
      {
        signalName: "callbackReceived",
        args: [{ event: "sale.completed" }],
        workflowExecution: { workflowId: "sale/default/-/INV-1" },
      },
    ]);
  });

  it.each([
    ["gone", "a workflow that is not found or closed", new WorkflowNotFoundError("already completed", "a", undefined)],
    ["gone", "a signal that the server will never take", new ServiceError("no", { cause: grpcError(3) })],
    ["unreachable", "a server that is away", new ServiceError("no", { cause: grpcError(14) })],
    ["unreachable", "a server that is too busy", new ServiceError("no", { cause: grpcError(8) })],
    ["unreachable", "a namespace or key that is refused", new ServiceError("no", { cause: grpcError(7) })],
    ["unreachable", "anything else", new TypeError("broken")],
  ])("returns %s for %s", async (outcome, _name, error) => {
    const signaller = createTemporalSignaller(clientWhoseSignals(() => Promise.reject(error)));
    expect(await signaller.signalCallback("a", {})).toBe(outcome);
  });

  it.each([
    [6_500, "by the age of the oldest", { approximateBacklogAge: msToTs(6_500) }],
    [0, "by none that waits", {}],
    [undefined, "where the server does not say", undefined],
  ])("says how long a task waits for the workers: %s, %s", async (behindMs, _name, stats) => {
    const asked: unknown[] = [];
    const client = clientWhoseSignals(() => Promise.resolve());
    const describeTaskQueue = (request: unknown) => {
      asked.push(request);
      return Promise.resolve({ ...(stats && { stats }) });
    };
    const withDeadline: Client["withDeadline"] = (_deadline, work) => work();
    const of = { options: client.options, workflowService: { describeTaskQueue }, withDeadline };
    expect(await createTemporalSignaller(of as unknown as Client).workersBehindMs()).toBe(behindMs);
    expect(asked).toMatchObject([{ taskQueue: { name: "fiscalflow" }, taskQueueType: 1, reportStats: true }]);
  });

  it("gives up on a server that accepts connections and never answers", async () => {
    const silent = createServer((socket) => socket.on("error", () => undefined).resume());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => void silent.close());
    const connection = Connection.lazy({ address: `127.0.0.1:${(silent.address() as AddressInfo).port}` });
    cleanups.push(() => connection.close());
    const signaller = createTemporalSignaller(new Client({ connection }), {
      signalTimeoutMs: 100,
      checkTimeoutMs: 100,
    });
    expect(await signaller.signalCallback("a", {})).toBe("unreachable");
    expect([await signaller.isReachable(), await signaller.workersBehindMs()]).toEqual([false, undefined]);
  });
});

/** As grpc-js reports a status. */
function grpcError(code: number): Error {
  return Object.assign(new Error("status"), { code, details: "", metadata: {} });
}
