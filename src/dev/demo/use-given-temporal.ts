import { Connection, type ConnectionLike } from "@temporalio/client";
import { hostname } from "node:os";

import type { Environment, TemporalConnection } from "../../config/index.ts";
import { MAIN_TASK_QUEUE } from "../../contract/index.ts";
import { connectErrorOf } from "../../worker/diagnose-temporal.ts";
import {
  recentPollers,
  requireListener,
  requireNamespace,
  requireSearchAttributes,
  temporalAddress,
  temporalErrorOf,
} from "../../worker/require-temporal.ts";
import { DemoError } from "./demo-error.ts";
import type { DemoTemporal } from "./demo-temporal.ts";
import { demoProcessOf } from "./demo-workers.ts";

const CALL_MS = 10_000;

/**
 * The server that the environment names, once it is certain that the demo's sales can run there and nobody else would
 * carry them.
 * @throws TemporalError, DemoError
 */
export async function useGivenTemporal(
  given: TemporalConnection,
  { env, uiUrl }: { env: Environment; uiUrl: string | undefined },
): Promise<DemoTemporal> {
  const { connectionOptions, namespace } = given;
  try {
    await requireListener(given, env);
    const connection = await Connection.connect({ ...connectionOptions, connectTimeout: CALL_MS }).catch(
      async (error: unknown) => {
        throw await connectErrorOf(error, given, env);
      },
    );
    try {
      await requireNamespace(connection, given);
      await requireSearchAttributes(connection, given);
      await requireNobodyServes(connection, given);
    } finally {
      await connection.close();
    }
  } catch (error) {
    if (error instanceof DemoError) throw error;
    const cause = temporalErrorOf(error, given);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DemoError(`${reason}\nOr unset TEMPORAL_ADDRESS: the demo then brings its own server.`, { cause });
  }
  return { connectionOptions, namespace, uiUrl: uiUrl?.replace(/\/+$/, ""), own: false };
}

/**
 * Another worker of the same queue would send the demo's sales to the service that it is connected to: a real one,
 * perhaps.
 */
async function requireNobodyServes(connection: ConnectionLike, given: TemporalConnection): Promise<void> {
  const { namespace } = given;
  const pollers = await connection.withDeadline(Date.now() + CALL_MS, () => recentPollers(connection, namespace));
  const others = pollers.filter((identity) => !isGoneDemo(identity));
  if (others.length === 0) return;
  throw new DemoError(
    `Another worker (${others.join(", ")}) serves the task queue \`${MAIN_TASK_QUEUE}\` of Temporal at ${temporalAddress(given)}, namespace ${namespace}, and would carry the demo's sales to its own service. Set TEMPORAL_NAMESPACE to another namespace, or unset TEMPORAL_ADDRESS: the demo then brings its own server.`,
  );
}

/** The server goes on naming the worker of a demo that ended a moment ago. */
function isGoneDemo(identity: string): boolean {
  const demo = demoProcessOf(identity);
  if (demo === undefined || demo.host !== hostname()) return false;
  try {
    process.kill(demo.pid, 0);
    return demo.pid === process.pid;
  } catch {
    return true;
  }
}
