import { Client, type Connection } from "@temporalio/client";

import type { TemporalConnection } from "../../config/index.ts";
import { complianceTaskQueue, MAIN_TASK_QUEUE, WORKFLOW_TYPES } from "../../contract/index.ts";
import { type RecentPoll, recentPolls } from "../../worker/recent-pollers.ts";
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

/** A poll lasts a minute at most, and the next one follows at once. */
const LONGEST_POLL_MS = 65_000;

/** Temporal does not say who has gone: it lists a worker that was killed until its last poll is long over. */
export function workersFinding(polls: readonly RecentPoll[], hasSales: boolean, nowMs = Date.now()): Finding {
  const start = "run `fiscalflow worker` on this namespace";
  // Before the first sale, the worker is what is started next.
  const level = hasSales ? fault : warning;
  if (polls.length === 0)
    return level("workers", `none polls "${MAIN_TASK_QUEUE}": sales are accepted and wait`, start);
  const agoMs = Math.max(0, nowMs - Math.max(...polls.map(({ polledAtMs }) => polledAtMs)));
  const last = `the last poll of "${MAIN_TASK_QUEUE}" began ${Math.round(agoMs / 1_000)} s ago`;
  if (agoMs > LONGEST_POLL_MS)
    return level("workers", `${last}, and a worker that runs polls every minute: sales are accepted and wait`, start);
  return ok("workers", `${polls.length} polled lately; ${last} (a worker that was killed counts for about a minute)`);
}

async function hasSales(connection: Connection, namespace: string): Promise<boolean> {
  const query = `WorkflowType = "${WORKFLOW_TYPES.sale}"`;
  const { count } = await connection.workflowService.countWorkflowExecutions({ namespace, query });
  return Number(count) > 0;
}

/**
 * Whether anybody serves the main queue: without, sales are accepted and wait. Workers that name another application
 * for a connection serve it, too, and leave the calls of these applications alone.
 */
export async function checkWorkers(
  connection: Connection,
  namespace: string,
  applications: ReadonlySet<string>,
): Promise<Finding[]> {
  const polls = await recentPolls(connection, namespace);
  const findings = [workersFinding(polls, await hasSales(connection, namespace))];
  if (polls.length === 0) return findings;
  for (const application of applications) {
    const name = complianceTaskQueue(application);
    if ((await recentPolls(connection, namespace, { name, type: "activity" })).length > 0) continue;
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
    return warning(
      "workers' calls",
      troubleLine(trouble),
      kind === "refused" ? "see below what the API answers" : todo,
    );
  });
}
