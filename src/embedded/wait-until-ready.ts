import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Connection } from "@temporalio/client";

const PAUSE_MS = 50;
const CALL_MS = 3_000;
/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const KEYWORD = 2;

export interface ReadyOptions {
  readonly port: number;
  readonly namespaces: readonly string[];
  readonly searchAttributes: readonly string[];
  /** Ends the wait: the time is up, or the server is gone. */
  readonly signal: AbortSignal;
}

class NotReadyError extends Error {
  override readonly name = "NotReadyError";

  constructor(reason: unknown, lastProblem: unknown) {
    const last = lastProblem instanceof Error ? `; the last look at it said: ${lastProblem.message}` : "";
    super(`${reason instanceof Error ? reason.message : "the wait was ended"}${last}`, { cause: lastProblem });
  }
}

/**
 * Resolves when every namespace answers and every search attribute can be used in a query. @throws NotReadyError when
 * the signal ends the wait
 */
export async function waitUntilReady(options: ReadyOptions): Promise<void> {
  const { port, namespaces, searchAttributes, signal } = options;
  // A gRPC channel that meets a closed port waits a whole second before it looks again; a socket costs nothing.
  await untilSucceeds(signal, () => accepts(port));
  const connection = await untilSucceeds(signal, () =>
    Connection.connect({ address: `127.0.0.1:${port}`, connectTimeout: CALL_MS }),
  );
  const call = <Answer>(work: () => Promise<Answer>): Promise<Answer> =>
    untilSucceeds(signal, () => connection.withDeadline(Date.now() + CALL_MS, work));
  try {
    for (const namespace of namespaces) {
      await call(() => connection.workflowService.describeNamespace({ namespace }));
      if (searchAttributes.length === 0) continue;
      await call(() => addMissing(connection, namespace, searchAttributes));
      const query = searchAttributes.map((name) => `${name} = "-"`).join(" or ");
      await call(() => connection.workflowService.countWorkflowExecutions({ namespace, query }));
    }
  } finally {
    await connection.close();
  }
}

/** A namespace of an older database file does not get the attributes from the command line. */
async function addMissing(connection: Connection, namespace: string, names: readonly string[]): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = names.filter((name) => !(name in customAttributes));
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

async function untilSucceeds<Answer>(signal: AbortSignal, attempt: () => Promise<Answer>): Promise<Answer> {
  let lastProblem: unknown;
  for (;;) {
    if (signal.aborted) throw new NotReadyError(signal.reason, lastProblem);
    try {
      return await attempt();
    } catch (error) {
      lastProblem = error;
      await delay(PAUSE_MS);
    }
  }
}

function accepts(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });
}
