import { Client, Connection } from "@temporalio/client";
import { setMaxListeners } from "node:events";

import { loadTemporalConnection, type TemporalConnection } from "../config/index.ts";
import { connectErrorOf } from "../worker/diagnose-temporal.ts";
import {
  requireListener,
  requireNamespace,
  requireSearchAttributes,
  temporalErrorOf,
} from "../worker/require-temporal.ts";
import type { CliContext } from "./context.ts";
import { interruptible } from "./interruptible.ts";
import { OpenCalls } from "./open-calls.ts";

export interface ConnectedTemporal {
  temporal: TemporalConnection;
  connection: Connection;
  client: Client;
  namespace: string;
}

/**
 * Does the work with a connection to Temporal, and closes it. An interruption ends the work's calls too.
 * @param needs whether the work goes wrong in a namespace without our search attributes
 * @throws ConfigError, TemporalError, InterruptedError
 */
export async function withTemporal<Result>(
  context: CliContext,
  work: (connected: ConnectedTemporal) => Promise<Result>,
  needs: "search-attributes" | "namespace" = "search-attributes",
): Promise<Result> {
  const temporal = loadTemporalConnection({ env: context.env });
  return interruptible(async () => {
    const calls = new OpenCalls();
    const over = new AbortController();
    const signal = AbortSignal.any([context.signal, over.signal]);
    // Each call listens to it: that may be many, and is no leak.
    setMaxListeners(0, signal);
    const connection = await connectTemporal(context, temporal, calls);
    try {
      return await connection.withAbortSignal(signal, async () => {
        await requireNamespace(connection, temporal);
        if (needs === "search-attributes") await requireSearchAttributes(connection, temporal);
        const { namespace } = temporal;
        return await work({ temporal, connection, namespace, client: new Client({ connection, namespace }) });
      });
    } catch (error) {
      throw temporalErrorOf(error, temporal);
    } finally {
      over.abort();
      await calls.close(connection);
    }
  }, context.signal);
}

/**
 * A page of a history with large answers is larger than the 4 MiB of gRPC's default. The SDK means to allow 128 MiB, under
 * a name that gRPC does not know (`max_receive_message_length`).
 */
export const HISTORY_CHANNEL_ARGS = { "grpc.max_receive_message_length": 128 * 1024 * 1024 };

/** @throws TemporalError */
export async function connectTemporal(
  context: CliContext,
  temporal: TemporalConnection,
  calls = new OpenCalls(),
): Promise<Connection> {
  await requireListener(temporal, context.env);
  try {
    const { connectionOptions } = temporal;
    const { interceptors } = calls;
    return await Connection.connect({ ...connectionOptions, channelArgs: HISTORY_CHANNEL_ARGS, interceptors });
  } catch (error) {
    throw await connectErrorOf(error, temporal, context.env);
  }
}
