import type { ComplianceRuntime } from "../../activities/compliance/index.ts";
import type { ComplianceConnection } from "../config/index.ts";
import { callingAs } from "../quota/index.ts";
import { reachProblem } from "./reach-problem.ts";
import type { KeyLog } from "./watch-keys.ts";

/**
 * Asks once for each connection which businesses its key reaches, and warns of one that does not reach its own: its sales would all park.
 * One call of the background budget each; never throws, since a service that is away is no reason not to serve.
 */
export async function checkReach(
  connections: readonly ComplianceConnection[],
  runtimes: ReadonlyMap<string, ComplianceRuntime>,
  log: Pick<KeyLog, "warn">,
): Promise<void> {
  await Promise.all(
    connections.map(async (connection) => {
      const { name, businessId } = connection;
      try {
        const asked = callingAs("background", () => runtimes.get(name)?.client.listBusinesses());
        const problem = reachProblem(connection, (await asked)?.data ?? []);
        if (!problem) return;
        const { message, todo } = problem;
        log.warn(`the key of connection ${name} ${message}: ${todo}`, { connection: name, businessId });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warn(`it is not known which businesses the key of connection ${name} reaches`, {
          connection: name,
          reason,
        });
      }
    }),
  );
}
