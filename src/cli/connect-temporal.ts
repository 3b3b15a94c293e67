import { Client, Connection } from "@temporalio/client";

import { loadTemporalConnection, type TemporalConnection } from "../config/index.ts";
import { requireListener, unreachable } from "../worker/require-listener.ts";
import { requireNamespace, temporalErrorOf } from "../worker/require-temporal.ts";
import type { CliContext } from "./context.ts";
import { interruptible } from "./interruptible.ts";

export interface ConnectedTemporal {
  temporal: TemporalConnection;
  connection: Connection;
  client: Client;
  namespace: string;
}

/**
 * Does the work with a connection to Temporal, and closes it.
 * @throws ConfigError, TemporalError, InterruptedError
 */
export async function withTemporal<Result>(
  context: CliContext,
  work: (connected: ConnectedTemporal) => Promise<Result>,
): Promise<Result> {
  const temporal = loadTemporalConnection({ env: context.env });
  return interruptible(async () => {
    const connection = await connectTemporal(context, temporal);
    try {
      await requireNamespace(connection, temporal);
      const { namespace } = temporal;
      return await work({ temporal, connection, namespace, client: new Client({ connection, namespace }) });
    } catch (error) {
      throw temporalErrorOf(error, temporal);
    } finally {
      await connection.close();
    }
  }, context.signal);
}

/** @throws TemporalError */
export async function connectTemporal(context: CliContext, temporal: TemporalConnection): Promise<Connection> {
  await requireListener(temporal, context.env);
  try {
    return await Connection.connect(temporal.connectionOptions);
  } catch (error) {
    const known = temporalErrorOf(error, temporal);
    throw known === error ? unreachable(temporal, error instanceof Error ? error.message : "unknown", error) : known;
  }
}
