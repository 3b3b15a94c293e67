import { type ConnectionLike, isGrpcServiceError } from "@temporalio/client";

import type { TemporalConnection } from "../config/index.ts";
import { temporalAddress, unreachable } from "./require-listener.ts";
import { readSearchAttributes } from "./search-attributes.ts";
import { TemporalError } from "./temporal-error.ts";

const CALL_MS = 10_000;
/** gRPC status codes. */
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/** @throws TemporalError where the namespace is not there, or is not ours to use */
export async function requireNamespace(connection: ConnectionLike, temporal: TemporalConnection): Promise<void> {
  const { namespace } = temporal;
  try {
    await connection.withDeadline(Date.now() + CALL_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } catch (error) {
    throw temporalErrorOf(error, temporal);
  }
}

/** @throws TemporalError where the namespace lacks search attributes, which sales cannot start without */
export async function requireSearchAttributes(connection: ConnectionLike, temporal: TemporalConnection): Promise<void> {
  const { namespace } = temporal;
  const { missing, wrongType } = await connection.withDeadline(Date.now() + CALL_MS, () =>
    readSearchAttributes(connection, namespace),
  );
  const wrong = wrongType.map(({ name, type }) => `${name} (is ${type}, must be Keyword)`);
  if (missing.length === 0 && wrong.length === 0) return;
  const lacks = [...missing, ...wrong].join(", ");
  throw new TemporalError(
    "no-search-attributes",
    `The namespace "${namespace}" of Temporal at ${temporalAddress(temporal)} lacks search attributes: ${lacks}. Run \`fiscalflow setup\`, which adds them.`,
  );
}

/** What a failed call of Temporal means for whoever runs the product. */
export function temporalErrorOf(error: unknown, temporal: TemporalConnection): unknown {
  if (error instanceof TemporalError) return error;
  const grpc = grpcError(error);
  if (grpc === undefined) return error;
  const { code, details } = grpc;
  const address = temporalAddress(temporal);
  const { namespace } = temporal;
  if (code === NOT_FOUND) {
    const message = `Temporal at ${address} has no namespace "${namespace}". Set TEMPORAL_NAMESPACE to one that it has, or create it: temporal operator namespace create --namespace ${namespace}`;
    return new TemporalError("no-namespace", message, { cause: error });
  }
  if (code === PERMISSION_DENIED || code === UNAUTHENTICATED) {
    const message = `Temporal at ${address} refuses us in the namespace "${namespace}": ${details}. Check TEMPORAL_API_KEY or TEMPORAL_TLS_*, and what they may do.`;
    return new TemporalError("refused", message, { cause: error });
  }
  if (code === UNAVAILABLE || code === DEADLINE_EXCEEDED) return unreachable(temporal, details, error);
  return error;
}

function grpcError(error: unknown): { code: number; details: string } | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isGrpcServiceError(cause)) return { code: Number(cause.code), details: cause.details };
  }
  return undefined;
}
