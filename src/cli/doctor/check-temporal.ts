import { Client, type Connection } from "@temporalio/client";

import type { TemporalConnection } from "../../config/index.ts";
import { complianceTaskQueue, MAIN_TASK_QUEUE } from "../../contract/index.ts";
import { recentPollers } from "../../worker/recent-pollers.ts";
import { requireNamespace, temporalAddress, TemporalError } from "../../worker/require-temporal.ts";
import { readSearchAttributes } from "../../worker/search-attributes.ts";
import { serviceTroubles, troubleLine } from "../sale/service-troubles.ts";
import { fault, type Finding, ok, warning } from "./finding.ts";

/** What the server says of itself. */
export async function checkServer(connection: Connection, temporal: TemporalConnection): Promise<Finding> {
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  return ok("Temporal", `${temporalAddress(temporal)} answers, server ${serverVersion || "of unknown version"}`);
}

/** @returns also whether the checks inside the namespace make sense */
export async function checkNamespace(
  connection: Connection,
  temporal: TemporalConnection,
): Promise<{ finding: Finding; usable: boolean }> {
  try {
    await requireNamespace(connection, temporal);
    return { finding: ok("namespace", `"${temporal.namespace}" is there`), usable: true };
  } catch (error) {
    if (!(error instanceof TemporalError)) throw error;
    return { finding: fault("namespace", error.message), usable: false };
  }
}

export async function checkSearchAttributes(connection: Connection, namespace: string): Promise<Finding> {
  const { ready, missing, wrongType } = await readSearchAttributes(connection, namespace);
  const check = "search attributes";
  if (wrongType.length > 0) {
    const wrong = wrongType.map(({ name, type }) => `${name} is ${type}, must be Keyword`).join("; ");
    return fault(check, wrong, "a type cannot be changed: use another namespace, or remove them if nothing uses them");
  }
  if (missing.length > 0) {
    return fault(check, `missing: ${missing.join(", ")}`, "run `fiscalflow setup`, which adds them");
  }
  return ok(check, `all ${ready.length} are registered`);
}

/**
 * Whether anybody serves the main queue: without, sales are accepted and wait. Workers that name another application for
 * a connection serve it, too, and leave the calls of these applications alone.
 */
export async function checkWorkers(
  connection: Connection,
  namespace: string,
  applications: ReadonlySet<string>,
): Promise<Finding[]> {
  const recent = await recentPollers(connection, namespace);
  if (recent.length === 0) {
    const message = `none polls "${MAIN_TASK_QUEUE}": sales are accepted and wait`;
    return [warning("workers", message, "run `fiscalflow worker` on this namespace")];
  }
  const findings = [ok("workers", `${recent.length} polled "${MAIN_TASK_QUEUE}" lately`)];
  for (const application of applications) {
    const name = complianceTaskQueue(application);
    if ((await recentPollers(connection, namespace, { name, type: "activity" })).length > 0) continue;
    const message = `none has polled "${name}" lately: calls of the application ${application} wait`;
    const todo = `run \`fiscalflow worker\` with COMPLIANCE_APPLICATION=${application}, the same for all workers; while the API's budget is used up, it is normal`;
    findings.push(warning("workers", message, todo));
  }
  return findings;
}

/**
 * What the workers' calls have met that wait for a service now: since when it is so, this command cannot know itself.
 */
export async function checkCalls(connection: Connection, namespace: string): Promise<Finding[]> {
  const client = new Client({ connection, namespace });
  const troubles = [...(await serviceTroubles(client, {})), ...(await serviceTroubles(client, {}, "jobs"))];
  if (troubles.length === 0) return [ok("workers' calls", "none that waits has met trouble with a service")];
  const todo = "nothing: they are tried again by themselves; see below what each service answers now";
  return troubles.map((trouble) => {
    const { kind } = trouble.trouble;
    return warning("workers' calls", troubleLine(trouble), kind === "refused" ? "see below what its key lacks" : todo);
  });
}
