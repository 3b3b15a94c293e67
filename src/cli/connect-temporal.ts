import { Client, Connection } from "@temporalio/client";
import { setTimeout as delay } from "node:timers/promises";

import { loadConfig, loadTemporalConnection, type TemporalConnection } from "../config/index.ts";
import { dataConverterOf } from "../payloads/index.ts";
import { connectErrorOf, handshakeProblem } from "../worker/diagnose-temporal.ts";
import {
  requireListener,
  requireNamespace,
  requireSearchAttributes,
  TemporalError,
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

/** By then, a server that lets us in has usually done so. */
const LOOK_AFTER_MS = 1_000;
/** A load balancer that switches closes one handshake, and takes the next. */
const LOOKS = 2;

/**
 * Nobody closes the connection, which ends with the process: the client repeats a failed call from a timer, and where
 * its connection was closed meanwhile, that throws where nobody can catch it ("Channel has been shut down").
 * @throws TemporalError
 */
export async function connectTemporal(
  { env }: Pick<CliContext, "env">,
  temporal: TemporalConnection,
): Promise<Connection> {
  await requireListener(temporal, env);
  const connecting = new AbortController();
  try {
    return await Promise.race([
      Connection.connect({ ...temporal.connectionOptions, channelArgs: HISTORY_CHANNEL_ARGS }),
      refusedHandshake(temporal, connecting.signal),
    ]);
  } catch (error) {
    throw await connectErrorOf(error, temporal);
  } finally {
    connecting.abort();
  }
}

/**
 * Rejects as soon as it is clear that the handshake fails, which the client repeats for ten seconds; never resolves.
 * @throws TemporalError
 */
async function refusedHandshake(temporal: TemporalConnection, connecting: AbortSignal): Promise<never> {
  for (let look = 1; ; look += 1) {
    const isDue = await delay(LOOK_AFTER_MS, true, { signal: connecting }).catch(() => false);
    const problem = isDue ? await handshakeProblem(temporal) : undefined;
    if (problem === undefined) return await new Promise<never>(() => undefined);
    if (look === LOOKS) throw new TemporalError("refused", problem);
  }
}
