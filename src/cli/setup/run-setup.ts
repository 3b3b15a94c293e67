import { setTimeout as delay } from "node:timers/promises";
import { type Connection, isGrpcServiceError } from "@temporalio/client";

import { loadConfig } from "../../config/index.ts";
import { MAIN_TASK_QUEUE } from "../../contract/index.ts";
import { setUpLedger } from "../../worker/process.ts";
import { KEYWORD, readSearchAttributes, searchAttributesUsable } from "../../worker/require-temporal.ts";
import { CommandFailedError } from "../cli-error.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { printNote, printResult } from "../output.ts";
import { reconcileSchedules, scheduleLines, wantedSchedules } from "./schedules.ts";

const CALL_MS = 10_000;
const USABLE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 250;

export interface SetupFlags {
  json?: boolean;
  dryRun?: boolean;
  nexusEndpoint?: string;
}

/** Makes the ledger's tables, the search attributes, the Schedules and, where it is asked for, a Nexus endpoint. */
export async function runSetup(
  context: CliContext,
  { json, dryRun = false, nexusEndpoint }: SetupFlags,
): Promise<void> {
  // Before anything is connected: its problems are reported first.
  const config = loadConfig({ env: context.env });
  const wanted = wantedSchedules(config);
  const hasTables = !dryRun && (await setUpLedger(config));
  await withTemporal(
    context,
    async ({ connection, client, namespace }) => {
      const within = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
        connection.withDeadline(Date.now() + CALL_MS, call);
      const before = await within(() => readSearchAttributes(connection, namespace));
      const { missing, ready, wrongType } = before;
      const [wrong] = wrongType;
      if (wrong) {
        const all = wrongType.map(({ name, type }) => `${name} is ${type}`).join(", ");
        throw new CommandFailedError(
          `The namespace "${namespace}" has search attributes of our names with another type, expected Keyword: ${all}. A type cannot be changed: use another namespace, or remove them if nothing uses them (temporal operator search-attribute remove --namespace ${namespace} --name ${wrong.name}).`,
        );
      }
      if (missing.length > 0 && !dryRun) {
        const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
        try {
          await within(() => connection.operatorService.addSearchAttributes({ namespace, searchAttributes }));
        } catch (error) {
          // Somebody else may have run setup at the same time.
          const now = await within(() => readSearchAttributes(connection, namespace)).catch(() => before);
          if (now.missing.length > 0) throw addRefusal(error, namespace, now.missing);
        }
        printNote(context, `Added ${missing.join(", ")}; waiting until queries can use them.`);
      }
      if (!dryRun) await untilUsable(context, () => within(() => searchAttributesUsable(connection, namespace)));
      const schedules = await reconcileSchedules(client, wanted, { dryRun });
      const endpoint =
        nexusEndpoint === undefined
          ? undefined
          : await within(() => ensureNexusEndpoint(connection, namespace, nexusEndpoint, dryRun));
      const text = [
        ...(hasTables ? ["The ledger's tables are ready."] : []),
        ...ready.map((name) => `${name}: was there`),
        ...missing.map((name) => `${name}: ${dryRun ? "would be added" : "added"}`),
        ...scheduleLines(schedules, wanted, dryRun),
        ...(endpoint ? [`Nexus endpoint ${endpoint.name}: ${ENDPOINT_STATES[endpoint.state]}`] : []),
        dryRun ? "Nothing was changed." : `The namespace "${namespace}" is ready.`,
      ];
      const { notScheduled } = wanted;
      const data = {
        namespace,
        dryRun,
        added: missing,
        present: ready,
        schedules,
        notScheduled,
        nexusEndpoint: endpoint,
      };
      printResult(context, json, data, text.join("\n"));
    },
    "namespace",
  );
}

/** PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED. */
const NOT_FOR_US = [7, 12, 16];

/** A server that does not let us register search attributes: somebody else must. */
function addRefusal(error: unknown, namespace: string, missing: readonly string[]): unknown {
  if (!isGrpcServiceError(error)) return error;
  const attributes = missing.map((name) => `--name ${name} --type Keyword`).join(" ");
  const advice = NOT_FOR_US.includes(Number(error.code))
    ? ` Let somebody who may add them (in Temporal Cloud: in the namespace's settings): temporal operator search-attribute create --namespace ${namespace} ${attributes}`
    : "";
  const message = `Temporal did not add the search attributes ${missing.join(", ")}: ${error.details}.${advice}`;
  return new CommandFailedError(message, { cause: error });
}

async function untilUsable(context: CliContext, usable: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + USABLE_WITHIN_MS;
  while (!(await usable())) {
    if (Date.now() >= deadlineMs)
      throw new CommandFailedError(
        `The search attributes are registered, but queries cannot use them after ${USABLE_WITHIN_MS / 1_000} s. Run \`fiscalflow setup\` again in a minute.`,
      );
    await delay(LOOK_EVERY_MS, undefined, { signal: context.signal });
  }
}

/** `missing` where only a look was asked for. */
const ENDPOINT_STATES = { present: "was there", added: "added", missing: "would be added" } as const;

interface NexusEndpoint {
  name: string;
  state: keyof typeof ENDPOINT_STATES;
}

/**
 * Sees to it that the endpoint leads to the workers of the namespace. An endpoint belongs to the Temporal cluster, so
 * one that leads elsewhere is somebody else's, and is left as it is.
 * @throws CommandFailedError
 */
async function ensureNexusEndpoint(
  { operatorService }: Connection,
  namespace: string,
  name: string,
  dryRun: boolean,
): Promise<NexusEndpoint> {
  const isThere = async (): Promise<boolean> => {
    const [endpoint] = (await operatorService.listNexusEndpoints({ name })).endpoints;
    if (!endpoint) return false;
    const target = endpoint.spec?.target;
    const worker = target?.worker;
    if (worker?.namespace === namespace && worker.taskQueue === MAIN_TASK_QUEUE) return true;
    const leadsTo = worker
      ? `the task queue "${worker.taskQueue}" of the namespace "${worker.namespace}"`
      : `${target?.external?.url}`;
    throw new CommandFailedError(
      `The Nexus endpoint "${name}" leads to ${leadsTo}, expected "${MAIN_TASK_QUEUE}" of "${namespace}". It was left as it is: choose another name, or change it with \`temporal operator nexus endpoint update --name ${name} --target-namespace ${namespace} --target-task-queue ${MAIN_TASK_QUEUE}\`.`,
    );
  };
  if (await isThere()) return { name, state: "present" };
  if (dryRun) return { name, state: "missing" };
  try {
    await operatorService.createNexusEndpoint({
      spec: { name, target: { worker: { namespace, taskQueue: MAIN_TASK_QUEUE } } },
    });
  } catch (error) {
    // Somebody else may have run setup at the same time.
    if (await isThere().catch(() => false)) return { name, state: "present" };
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailedError(
      `The Nexus endpoint "${name}" was not created: ${why}. In Temporal Cloud, create it in its UI: target namespace "${namespace}", task queue "${MAIN_TASK_QUEUE}".`,
    );
  }
  return { name, state: "added" };
}
