import { isGrpcServiceError } from "@temporalio/client";

import { CommandFailedError } from "./cli-error.ts";

/** PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED. */
const NOT_FOR_US = [7, 12, 16];

/** A server that does not let us register search attributes: somebody else must. */
export function addRefusal(error: unknown, namespace: string, missing: readonly string[]): unknown {
  if (!isGrpcServiceError(error)) return error;
  const attributes = missing.map((name) => `--name ${name} --type Keyword`).join(" ");
  const advice = NOT_FOR_US.includes(Number(error.code))
    ? ` Let somebody who may add them (in Temporal Cloud: in the namespace's settings): temporal operator search-attribute create --namespace ${namespace} ${attributes}`
    : "";
  const message = `Temporal did not add the search attributes ${missing.join(", ")}: ${error.details}.${advice}`;
  return new CommandFailedError(message, { cause: error });
}
