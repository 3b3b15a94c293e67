import { setTimeout as delay } from "node:timers/promises";
import { Client, type Connection, isGrpcServiceError } from "@temporalio/client";

import { loadConfig } from "../../config/index.ts";
import { setUpLedger } from "../../worker/process.ts";
import { KEYWORD, readSearchAttributes, searchAttributesUsable } from "../../worker/require-temporal.ts";
import { CommandFailedError } from "../cli-error.ts";
import { type ConnectedTemporal, withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { printNote, printResult } from "../output.ts";
import { reconcileSchedules, scheduleLines, wantedSchedules } from "./schedules.ts";

const CALL_MS = 10_000;
const USABLE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 250;

/** Makes the ledger's tables, the search attributes and the Schedules. */
export async function runSetup(context: CliContext, json = false): Promise<void> {
  // Before anything is connected: its problems are reported first.
  const config = loadConfig({ env: context.env });
  const wanted = wantedSchedules(config);
  const hasTables = await setUpLedger(config);
  const setUp = async ({ connection, namespace }: ConnectedTemporal): Promise<void> => {
    const { missing, ready } = await addSearchAttributes(context, connection, namespace);
    // What a Schedule holds names a connection and a business, and outlives any key: it stays plain.
    const schedules = await reconcileSchedules(new Client({ connection, namespace }), wanted);
    const text = [
      ...(hasTables ? ["The ledger's tables are ready."] : []),
      ...ready.map((name) => `${name}: was there`),
      ...missing.map((name) => `${name}: added`),
      ...scheduleLines(schedules, wanted),
      `The namespace "${namespace}" is ready.`,
    ];
    const { notScheduled } = wanted;
    printResult(context, json, { namespace, added: missing, present: ready, schedules, notScheduled }, text.join("\n"));
  };
  await withTemporal(context, setUp, "namespace");
}

/** Those that are missing, until queries can use them. @throws CommandFailedError */
async function addSearchAttributes(context: CliContext, connection: Connection, namespace: string) {
  const within = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
    connection.withDeadline(Date.now() + CALL_MS, call);
  const before = await within(() => readSearchAttributes(connection, namespace));
  const { missing, wrongType } = before;
  const [wrong] = wrongType;
  if (wrong) {
    const all = wrongType.map(({ name, type }) => `${name} is ${type}`).join(", ");
    throw new CommandFailedError(
      `The namespace "${namespace}" has search attributes of our names with another type, expected Keyword: ${all}. A type cannot be changed: use another namespace, or remove them if nothing uses them (temporal operator search-attribute remove --namespace ${namespace} --name ${wrong.name}).`,
    );
  }
  if (missing.length > 0) {
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
  await untilUsable(context, () => within(() => searchAttributesUsable(connection, namespace)));
  return before;
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
