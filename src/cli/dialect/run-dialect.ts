import { setTimeout as delay } from "node:timers/promises";
import { accountingSettings, createAccountingClient } from "../../accounting/index.ts";
import { type ComplianceDialect, complianceSettings, createComplianceClient } from "../../compliance/index.ts";
import { type Config, loadConfig } from "../../config/index.ts";
import type { DialectSetting } from "../../http/dialect-settings.ts";
import { AnswerError, retryAfterMsOf } from "../../http/service-call.ts";
import { createDispatchers, createTransport, type Transport } from "../../http/transport.ts";
import { type CliContext, CommandFailedError, describeError, interruptible, UsageError } from "../context.ts";
import { printNote, printResult } from "../output.ts";
import { plainTable } from "../tables.ts";

export interface DialectFlags {
  check?: boolean;
  json?: boolean;
}

type Service = "compliance" | "accounting";

/** A name of an answer. It holds names of fields alone: no value, and so nothing of a customer. */
interface SoughtName {
  path: string;
  configured: string | null;
  /** Null where there was nothing to look at, as in a list without rows. */
  found: boolean | null;
  /** The other fields of the same place. */
  beside: string[];
}

interface Asked {
  service: Service;
  connection: string;
  names: SoughtName[];
  /** Why there is no answer to look at. */
  failed?: string;
}

interface Question extends Pick<DialectSetting, "path" | "question" | "optional"> {
  service: Service;
}

/**
 * The `dialect` command.
 * @throws UsageError, ConfigError and, once the result is printed, CommandFailedError: where a service gave no answer,
 * or with `--check` where an answer lacks a configured name
 */
export async function runDialect(context: CliContext, flags: DialectFlags): Promise<void> {
  const config = loadConfig({ env: context.env });
  if (config.compliance.length + config.accounting.length === 0) throw new UsageError("No connection is configured.");
  const dispatchers = createDispatchers();
  const asked: Asked[] = [];
  try {
    await interruptible(() => askAll(config, createTransport(dispatchers), context, asked), context.signal);
  } finally {
    await dispatchers.close();
  }
  const fits = asked.every(({ names }) => names.every(({ found }) => found !== false));
  const questions = questionsOf(asked);
  printResult(context, flags.json, { fits, connections: asked, questions }, textOf(asked, questions));
  const failures = asked.flatMap(({ service, connection, failed }) =>
    failed === undefined ? [] : [`${SERVICES[service]}, connection ${connection}: ${failed}`],
  );
  if (failures.length > 0) throw new CommandFailedError(failures.join("\n"));
  if (flags.check === true && !fits) throw new CommandFailedError("");
}

const WINDOW_MS = 60_000;

async function askAll(
  { compliance, accounting, timings }: Config,
  transport: Transport,
  context: CliContext,
  asked: Asked[],
): Promise<void> {
  const { signal } = context;
  const how = { transport, timeoutMs: timings.callTimeoutMs };
  const ask = async (service: Service, connection: string, read: () => Promise<SoughtName[]>): Promise<void> => {
    try {
      const names = await read().catch(async (error: unknown) => {
        // The workers beside it may have used up the window. Its reset is a minute away at most.
        if (!(error instanceof AnswerError) || error.status !== 429) throw error;
        const pauseMs = Math.min(retryAfterMsOf(error.meta) ?? WINDOW_MS, WINDOW_MS);
        printNote(
          context,
          `${SERVICES[service]}: the minute's requests are used up; asking again in ${pauseMs / 1_000} s`,
        );
        await delay(pauseMs, undefined, { signal });
        return await read();
      });
      asked.push({ service, connection, names });
    } catch (error) {
      const { message: failed } = describeError(error);
      asked.push({ service, connection, names: [], failed });
    }
  };
  for (const { name, baseUrl, apiKey, auth, keyReach, dialect } of compliance) {
    const client = createComplianceClient({ ...how, baseUrl, apiKey, auth, keyReach, dialect });
    await ask("compliance", name, async () =>
      businessNames((await client.listBusinessesAsSent({ signal })).data, dialect.businesses),
    );
  }
  for (const { name, baseUrl, apiKey, clientSecret, dialect } of accounting) {
    const client = createAccountingClient({ ...how, baseUrl, apiKey, clientSecret, dialect });
    await ask("accounting", name, async () => [
      listName("companies.list", dialect.companies.list, (await client.listCompanies({ signal })).data),
    ]);
  }
}

function businessNames(body: unknown, names: ComplianceDialect["businesses"]): SoughtName[] {
  const data = fieldOf(body, "data");
  const businesses = objectsIn(names.list === null ? data : fieldOf(data, names.list));
  const branches = businesses.flatMap((business) => objectsIn(fieldOf(business, names.branches)));
  const ofBusiness = [names.id, names.branches];
  const ofBranch = [names.branchId, names.authorityId];
  return [
    listName("businesses.list", names.list, data),
    sought("businesses.id", names.id, businesses, ofBusiness),
    sought("businesses.branches", names.branches, businesses, ofBusiness),
    sought("businesses.branchId", names.branchId, branches, ofBranch),
    sought("businesses.authorityId", names.authorityId, branches, ofBranch),
  ];
}

/** @param configured `null`: the place itself is the list */
function listName(path: string, configured: string | null, place: unknown): SoughtName {
  const found = Array.isArray(configured === null ? place : fieldOf(place, configured));
  return { ...sought(path, configured, objectsIn([place]), [configured]), found };
}

function sought(
  path: string,
  configured: string | null,
  places: readonly object[],
  known: readonly (string | null)[],
): SoughtName {
  const fields = new Set(places.flatMap((place) => Object.keys(place)));
  const found = configured === null || places.length === 0 ? null : fields.has(configured);
  return { path, configured, found, beside: [...fields].filter((field) => !known.includes(field)) };
}

function fieldOf(place: unknown, name: string | null): unknown {
  return typeof place === "object" && place !== null && name !== null ? Reflect.get(place, name) : undefined;
}

function objectsIn(list: unknown): object[] {
  const isObject = (one: unknown): one is object => typeof one === "object" && one !== null && !Array.isArray(one);
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function questionsOf(asked: readonly Asked[]): Question[] {
  const of = (service: Service, settings: readonly DialectSetting[]): Question[] => {
    const own = asked.filter((one) => one.service === service);
    if (own.length === 0) return [];
    const isShown = (path: string): boolean =>
      own.every(({ names }) => names.some((name) => name.path === path && name.found === true));
    return settings
      .filter(({ path }) => !isShown(path))
      .map(({ path, question, optional }) => ({ service, path, question, ...(optional && { optional }) }));
  };
  return [...of("compliance", complianceSettings()), ...of("accounting", accountingSettings())];
}

const SERVICES = { compliance: "Compliance API", accounting: "Accounting Service" } as const;
const FOUND = { true: "yes", false: "NO", null: "cannot be told" } as const;
const HEAD = ["name of the answer", "configured", "is there", "other fields beside it"];

function textOf(asked: readonly Asked[], questions: readonly Question[]): string {
  const tables = asked.map(({ service, connection, names, failed }) => {
    const title = `${SERVICES[service]}, connection ${connection}`;
    if (failed !== undefined) return `${title}: no answer`;
    const rows = names.map(({ path, configured, found, beside }) => [
      path,
      configured ?? "null",
      FOUND[`${found}`],
      beside.join(", "),
    ]);
    return `${title}\n${plainTable(HEAD, rows)}`;
  });
  const lists = [
    ["Ask the provider, since no answer shows it:", questions.filter(({ optional }) => !optional)],
    ["Ask only if you want what it switches on:", questions.filter(({ optional }) => optional)],
  ] as const;
  const toAsk = lists.flatMap(([title, some]) =>
    some.length === 0 ? [] : [[title, ...some.map(({ path, question }) => `- ${path}: ${question}`)].join("\n")],
  );
  return [...tables, ...toAsk].join("\n\n");
}
