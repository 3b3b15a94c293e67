import { Client, Connection } from "@temporalio/client";

import { loadConfig, loadTemporalConnection, type TemporalConnection } from "../config/index.ts";
import { dataConverterOf } from "../payloads/index.ts";
import { connectErrorOf } from "../worker/diagnose-temporal.ts";
import {
  requireListener,
  requireNamespace,
  requireSearchAttributes,
  temporalErrorOf,
} from "../worker/require-temporal.ts";
import { type CliContext, interruptible } from "./context.ts";

export interface ConnectedTemporal {
  connection: Connection;
  client: Client;
  namespace: string;
}

/**
 * @param needs whether the work goes wrong in a namespace without our search attributes
 * @throws ConfigError, TemporalError, InterruptedError
 */
export async function withTemporal<Result>(
  context: CliContext,
  work: (connected: ConnectedTemporal) => Promise<Result>,
  needs: "search-attributes" | "namespace" = "search-attributes",
): Promise<Result> {
  const dataConverter = dataConverterOf(loadConfig({ env: context.env }).payloadKeys);
  const temporal = loadTemporalConnection({ env: context.env });
  return interruptible(async () => {
    const connection = await connectTemporal(context, temporal);
    try {
      await requireNamespace(connection, temporal);
      if (needs === "search-attributes") await requireSearchAttributes(connection, temporal);
      const { namespace } = temporal;
      return await work({ connection, namespace, client: new Client({ connection, namespace, dataConverter }) });
    } catch (error) {
      throw temporalErrorOf(error, temporal);
    }
  }, context.signal);
}

/**
 * A page of a history with large answers is larger than the 4 MiB of gRPC's default. The SDK means to allow 128 MiB, under
 * a name that gRPC does not know (`max_receive_message_length`).
 */
export const HISTORY_CHANNEL_ARGS = { "grpc.max_receive_message_length": 128 * 1024 * 1024 };

/**
 * Nobody closes the connection, which ends with the process: the client repeats a failed call from a timer, and where
 * its connection was closed meanwhile, that throws where nobody can catch it ("Channel has been shut down").
 * @throws TemporalError
 */
export async function connectTemporal({ env }: CliContext, temporal: TemporalConnection): Promise<Connection> {
  await requireListener(temporal, env);
  try {
    return await Connection.connect({ ...temporal.connectionOptions, channelArgs: HISTORY_CHANNEL_ARGS });
  } catch (error) {
    throw await connectErrorOf(error, temporal, env);
  }
}
