import { Client, type Connection } from "@temporalio/client";

import type { Config, TemporalConnection } from "../../config/index.ts";
import { complianceTaskQueue, MAIN_TASK_QUEUE, WORKFLOW_TYPES } from "../../contract/index.ts";
import { dataConverterOf } from "../../payloads/index.ts";
import { expiringCertificate } from "../../worker/diagnose-temporal.ts";
import {
  polledQueue,
  type PolledQueue,
  readSearchAttributes,
  type RecentPoll,
  requireNamespace,
  temporalAddress,
  TemporalError,
  unservedReason,
} from "../../worker/require-temporal.ts";
import { type LedgerNote, readLedgerNote } from "../../worker/ledger-note.ts";
import { connectTemporal } from "../connect-temporal.ts";
import { type CliContext, describeError } from "../context.ts";
import { serviceTroubles, troubleLine } from "../sale/service-troubles.ts";
import { alignSchedules, type ScheduleChange, wantedSchedules } from "../setup/setup.ts";
import { fault, type Finding, ok, warning } from "./finding.ts";

const CALL_MS = 10_000;

/**
 * @param config absent if it cannot be used: what depends on it is not looked at
 * @returns what the workers have seen of the ledger, if that is known
 */
export async function checkTemporal(
  context: CliContext,
  temporal: TemporalConnection,
  config: Config | undefined,
  add: (...found: Finding[]) => void,
): Promise<LedgerNote | undefined> {
  let connection: Connection;
  try {
    connection = await connectTemporal(context, temporal);
  } catch (error) {
    if (!(error instanceof TemporalError)) throw error;
    add(fault("Temporal", error.message));
    return undefined;
  }
  const { namespace } = temporal;
  const client = new Client({ connection, namespace, dataConverter: dataConverterOf(config?.payloadKeys ?? []) });
  const attempt = async (check: string, look: () => Promise<Finding[]>, otherwise = fault): Promise<boolean> => {
    const found = await connection
      .withDeadline(Date.now() + CALL_MS, look)
      .catch((error: unknown) => [otherwise(check, describeError(error).message)]);
    add(...found);
    return found.every(({ level }) => level !== "fault");
  };
  await attempt("Temporal", async () => {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    const version = serverVersion || "of unknown version";
    const expiring = expiringCertificate(temporal, Date.now());
    return [
      ok("Temporal", `${temporalAddress(temporal)} answers, server ${version}`),
      ...(expiring ? [warning("Temporal", expiring.message, expiring.todo)] : []),
    ];
  });
  const isThere = await attempt("namespace", async () => {
    await requireNamespace(connection, temporal);
    return [ok("namespace", `"${namespace}" is there`)];
  });
  if (!isThere) return undefined;
  const areReady = await attempt("search attributes", () => searchAttributes(connection, namespace));
  await attempt("workers", () => workers(connection, namespace, config));
  // Sales do not need them.
  const wanted = config && wantedSchedules(config);
  const changes = async () => (wanted ? alignSchedules(client, wanted, { dryRun: true }) : []);
  await attempt("Schedules", async () => schedulesFindings(await changes()), warning);
  // Asked by the search attributes: without them the same fault would be told twice.
  if (areReady) await attempt("workers' calls", () => waitingCalls(client));
  return await readLedgerNote(client).catch((error: unknown) => {
    const todo =
      "see that the workers may read and write Temporal's Schedules: they note in one how much the ledger has";
    add(warning("ledger", `what the workers have seen of it is not known: ${describeError(error).message}`, todo));
    return undefined;
  });
}

async function searchAttributes(connection: Connection, namespace: string): Promise<Finding[]> {
  const { ready, missing, wrongType } = await readSearchAttributes(connection, namespace);
  const check = "search attributes";
  if (wrongType.length > 0) {
    const wrong = wrongType.map(({ name, type }) => `${name} is ${type}, must be Keyword`).join("; ");
    const todo = "a type cannot be changed: use another namespace, or remove them if nothing uses them";
    return [fault(check, wrong, todo)];
  }
  if (missing.length > 0)
    return [fault(check, `missing: ${missing.join(", ")}`, "run `fiscalflow setup`, which adds them")];
  return [ok(check, `all ${ready.length} are registered`)];
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

/** Of workers that poll and get no task, since Temporal hands them to another version. */
function versionFindings({ polls, unserved }: PolledQueue, namespace: string): Finding[] {
  if (unserved === undefined) return [];
  const commands = polls.flatMap(({ version }) => {
    if (!version) return [];
    const which = `--deployment-name ${version.deploymentName} --build-id ${version.buildId}`;
    return [`temporal worker deployment set-current-version --namespace ${namespace} ${which}`];
  });
  const todo = [...new Set(["run workers of that version", ...commands])].join(", or ");
  return [fault("workers", unservedReason(unserved), todo)];
}

/** Workers that name another application for a connection serve the main queue, and leave its calls alone. */
async function workers(connection: Connection, namespace: string, config: Config | undefined): Promise<Finding[]> {
  const queue = await polledQueue(connection, namespace);
  const { polls } = queue;
  const query = `WorkflowType = "${WORKFLOW_TYPES.sale}"`;
  const { count } = await connection.workflowService.countWorkflowExecutions({ namespace, query });
  const findings = [workersFinding(polls, Number(count) > 0), ...versionFindings(queue, namespace)];
  if (polls.length === 0) return findings;
  for (const application of new Set(config?.compliance.map((one) => one.application))) {
    const name = complianceTaskQueue(application);
    if ((await polledQueue(connection, namespace, { name, type: "activity" })).polls.length > 0) continue;
    const message = `none has polled "${name}" lately: calls of the application ${application} wait`;
    const todo = `run \`fiscalflow worker\` with COMPLIANCE_APPLICATION=${application}, the same for all workers; while the API's budget is used up, it is normal`;
    findings.push(warning("workers", message, todo));
  }
  return findings;
}

/** @param changes that `fiscalflow setup` would make */
export function schedulesFindings(changes: readonly ScheduleChange[]): Finding[] {
  if (changes.length === 0) return [];
  const problems = changes.flatMap(({ id, change, paused }) => [
    ...(change === "unchanged" ? [] : [`${id} ${DRIFT[change]}`]),
    ...(paused ? [`${id} is paused`] : []),
  ]);
  if (problems.length === 0) return [ok("Schedules", `all ${changes.length} are there, and none is paused`)];
  const isDrift = changes.some(({ change }) => change !== "unchanged");
  const unpause = "unpause them in Temporal's UI when they are to run again";
  return [warning("Schedules", problems.join("; "), isDrift ? "run `fiscalflow setup`" : unpause)];
}

const DRIFT = { created: "is missing", repaired: "was changed by hand", removed: "is no longer wanted" } as const;

/** What the workers' calls have met that wait for a service now: since when, this command cannot know itself. */
async function waitingCalls(client: Client): Promise<Finding[]> {
  const troubles = [...(await serviceTroubles(client, {})), ...(await serviceTroubles(client, {}, "jobs"))];
  if (troubles.length === 0) return [ok("workers' calls", "none that waits has met trouble with a service")];
  const again = "nothing: they are tried again by themselves; see below what each service answers now";
  return troubles.map((trouble) => {
    const todo = trouble.trouble.kind === "refused" ? "see below what the API answers" : again;
    return warning("workers' calls", troubleLine(trouble), todo);
  });
}
