import type { ComplianceRuntime } from "../../activities/compliance/index.ts";
import { ComplianceApiError } from "../compliance/index.ts";
import type { ComplianceConnection } from "../config/index.ts";
import { callingAs } from "../quota/index.ts";
import { reachProblem } from "./reach-problem.ts";
import type { KeyLog } from "./watch-keys.ts";

/**
 * Asks once for each connection which businesses its key reaches, and warns of one that does not reach all that are
 * configured: their sales would all park, and so would what their Schedules start. One call of the background budget
 * each; never throws, since a service that is away is no reason not to serve.
 */
export async function checkReach(
  connections: readonly ComplianceConnection[],
  runtimes: ReadonlyMap<string, ComplianceRuntime>,
  log: Pick<KeyLog, "warn">,
): Promise<void> {
  await Promise.all(
    connections.map(async (connection) => {
      const { name, businessId } = connection;
      const runtime = runtimes.get(name);
      if (!runtime) return;
      try {
        const call = {
          operation: "listBusinesses",
          businessId: undefined,
          retriedAtMs: undefined,
          caller: "start",
          scheduledAtMs: Date.now(),
        } as const;
        const { data } = await callingAs("background", () =>
          runtime.credentialBreaker.pass(call, () => runtime.client.listBusinesses()),
        );
        const problem = reachProblem(connection, data);
        if (!problem) return;
        const { message, todo } = problem;
        log.warn(`the key of connection ${name} ${message}: ${todo}`, { connection: name, businessId });
      } catch (error) {
        // The circuit breaker has reported it, once for this call and for all that come.
        if (isRefusalOfTheKey(error)) return;
        const reason = error instanceof Error ? error.message : String(error);
        log.warn(`it is not known which businesses the key of connection ${name} reaches`, {
          connection: name,
          reason,
        });
      }
    }),
  );
}

function isRefusalOfTheKey(error: unknown): boolean {
  if (!(error instanceof ComplianceApiError)) return false;
  return error.status === 401 || (error.status === 403 && error.envelope !== undefined);
}
