import { longestCallbackUrl, MAX_CALLBACK_URL_LENGTH } from "../callbacks/callback-token.ts";
import type { ServedBusinesses } from "../contract/connection.ts";
import { type ConfigProblem, nearMiss } from "./config-error.ts";
import {
  type accountingSettings,
  ANY_BUSINESS,
  type callbackSettings,
  type complianceSettings,
} from "./connection-settings.ts";
import type { ledgerSettings, Timings, timingSettings, workerSettings } from "./process-settings.ts";
import type { SettingsReading } from "./read-settings.ts";
import { ACCOUNTING_KEY, ACCOUNTING_WEBHOOK_SECRET, COMPLIANCE_KEY, keyEnvironment } from "./secret-settings.ts";
import type { Environment } from "./setting-kinds.ts";
import { addressOf, plaintextProblem, publicUrlProblem } from "./urls.ts";

/** What was read of a connection, whole or not: rules that need several settings look at those that there are. */
interface ConnectionReading<
  S extends typeof complianceSettings | typeof accountingSettings,
> extends SettingsReading<S> {
  name: string;
}

export type ComplianceReading = ConnectionReading<typeof complianceSettings>;
export type AccountingReading = ConnectionReading<typeof accountingSettings>;

export function applicationOf(connection: ComplianceReading): string {
  return connection.values.application ?? connection.name;
}

/** Those that are named, each once, the default one first. */
export function businessesOf({ values: { businessId, businesses = [] } }: ComplianceReading): string[] {
  const named = businesses.filter((id) => id !== ANY_BUSINESS);
  return [...new Set([...(businessId === undefined ? [] : [businessId]), ...named])];
}

export function servedBusinessesOf(connection: ComplianceReading): ServedBusinesses {
  return connection.values.businesses?.includes(ANY_BUSINESS) === true ? "any" : businessesOf(connection);
}

/** The rules between the settings of connections to the Compliance API. */
export function checkComplianceConnections(connections: readonly ComplianceReading[]): ConfigProblem[] {
  return connections.flatMap((connection, index) => [
    ...boundBusinessProblem(connection),
    ...noBusinessProblem(connection),
    ...otherBusinessesProblem(connection),
    ...connections
      .slice(0, index)
      .flatMap((earlier) => [
        ...oneApplicationProblem(connection, earlier),
        ...oneBusinessProblem(connection, earlier),
      ]),
  ]);
}

/** Supplier invoices are held against the payments of a connection that there is. */
export function checkReconciliation(
  compliance: readonly ComplianceReading[],
  accounting: readonly AccountingReading[],
): ConfigProblem[] {
  const known = accounting.map(({ name }) => name);
  return compliance.flatMap(({ values: { reconcileAccounting: name }, where }) => {
    if (name === undefined || known.includes(name)) return [];
    const message = `expected a configured connection to the accounting service (${known.join(", ") || "none"}), found "${name}"`;
    return [{ path: where("reconcileAccounting"), message }];
  });
}

/** The rules between the settings of connections to the accounting service. */
export function checkAccountingConnections(connections: readonly AccountingReading[]): ConfigProblem[] {
  return connections.flatMap((connection, index) => [
    ...webhookEnvironmentProblem(connection),
    ...connections.slice(0, index).flatMap((earlier) => sameAccountProblem(connection, earlier)),
  ]);
}

/** The name is never sent, but workflow ids, the ledger and the rule of one connection a business need it. */
function boundBusinessProblem({ values, where }: ComplianceReading): ConfigProblem[] {
  if (values.keyReach !== "business" || values.businessId !== undefined) return [];
  const message =
    'is missing; with the key reach "business" it names the business that the key is bound to (the id is never sent, only used to tell businesses apart)';
  return [{ path: where("businessId"), message }];
}

/** Nobody serves every business of an organisation without having said so. */
function noBusinessProblem({ values, given, where }: ComplianceReading): ConfigProblem[] {
  if (values.keyReach !== "organisation" || given.has("businessId") || given.has("businesses")) return [];
  const message =
    'is missing, and so is the default business (businessId, COMPLIANCE_BUSINESS_ID): expected the businesses that are served, or "*" for any that the key reaches (`fiscalflow doctor` lists those)';
  return [{ path: where("businesses"), message }];
}

/** A key that is bound to one business acts for no other (Fiscal Compliance API, "Authentication", 3). */
function otherBusinessesProblem(connection: ComplianceReading): ConfigProblem[] {
  const { keyReach, businessId, businesses = [] } = connection.values;
  const others = businesses.filter((id) => id !== businessId);
  if (keyReach !== "business" || businessId === undefined || others.length === 0) return [];
  const message = `expected no business besides "${businessId}", to which the key is bound by its reach "business"; found ${quoted(others)}. If the key is organisation-wide, its reach is "organisation"`;
  return [{ path: connection.where("businesses"), message }];
}

/** One application is one budget and one task queue, so it cannot be two things. */
function oneApplicationProblem(connection: ComplianceReading, earlier: ComplianceReading): ConfigProblem[] {
  const application = applicationOf(connection);
  if (application !== applicationOf(earlier)) return [];
  const problems: ConfigProblem[] = [];
  const [ours, theirs] = [connection, earlier].map(({ values }) => environmentOf(values.apiKey, COMPLIANCE_KEY));
  const both = `the connections "${earlier.name}" and "${connection.name}" of the application "${application}"`;
  if (ours !== undefined && theirs !== undefined && ours !== theirs) {
    const message = `expected keys of one environment for ${both}; found a ${theirs} key and a ${ours} key. Use keys of one environment, or give each an application of its own`;
    problems.push({ path: connection.where("apiKey"), message });
  }
  const [ourUrl, theirUrl] = [connection.values.baseUrl, earlier.values.baseUrl];
  if (ourUrl !== undefined && theirUrl !== undefined && ourUrl !== theirUrl) {
    const message = `expected one base URL for ${both}; found ${theirUrl} and ${ourUrl}. Give each an application of its own`;
    problems.push({ path: connection.where("baseUrl"), message });
  }
  return problems;
}

/** Through two connections, one invoice number of a business would become two documents. */
function oneBusinessProblem(connection: ComplianceReading, earlier: ComplianceReading): ConfigProblem[] {
  const [ours, theirs] = [connection.values, earlier.values];
  if (ours.baseUrl === undefined || ours.baseUrl !== theirs.baseUrl) return [];
  const known = new Set(businessesOf(earlier));
  const shared = businessesOf(connection).filter((id) => known.has(id));
  if (shared.length > 0) {
    const where = connection.where(shared[0] === ours.businessId ? "businessId" : "businesses");
    const message = `expected one connection for each business; "${earlier.name}" and "${connection.name}" both reach ${quoted(shared)} at ${ours.baseUrl}. Take that out of one of them`;
    return [{ path: where, message }];
  }
  if (ours.apiKey !== undefined && theirs.apiKey !== undefined && ours.apiKey.equals(theirs.apiKey)) {
    const message = `expected one connection for each key; "${earlier.name}" and "${connection.name}" have the same one and so reach the same businesses. Keep one of them, with the businesses of both (businesses, COMPLIANCE_BUSINESSES)`;
    return [{ path: connection.where("apiKey"), message }];
  }
  return [];
}

function webhookEnvironmentProblem({ values, where }: AccountingReading): ConfigProblem[] {
  const ofKey = environmentOf(values.apiKey, ACCOUNTING_KEY);
  return (values.webhookSecrets ?? []).flatMap((secret) => {
    const ofSecret = environmentOf(secret, ACCOUNTING_WEBHOOK_SECRET);
    if (ofKey === undefined || ofSecret === undefined || ofKey === ofSecret) return [];
    const message = `expected a webhook secret of the API key's environment, ${ofKey}; found one of ${ofSecret}`;
    return [{ path: where("webhookSecrets"), message }];
  });
}

function sameAccountProblem(connection: AccountingReading, earlier: AccountingReading): ConfigProblem[] {
  const [ours, theirs] = [connection.values, earlier.values];
  if (ours.baseUrl === undefined || ours.baseUrl !== theirs.baseUrl) return [];
  if (ours.apiKey === undefined || theirs.apiKey === undefined || !ours.apiKey.equals(theirs.apiKey)) return [];
  const message = `expected one connection for each key; "${earlier.name}" and "${connection.name}" have the same one and would fetch everything twice. Remove one of them`;
  return [{ path: connection.where("apiKey"), message }];
}

function quoted(ids: readonly string[]): string {
  return ids.map((id) => `"${id}"`).join(", ");
}

function environmentOf<E extends string>(
  secret: { reveal(): string } | undefined,
  form: { prefixes: Readonly<Record<string, E>> },
): E | undefined {
  return secret === undefined ? undefined : keyEnvironment(secret.reveal(), form);
}

/** Whether somebody wants callbacks: a port alone does not switch them on. */
export function wantsCallbacks({ given }: SettingsReading<typeof callbackSettings>): boolean {
  return given.has("publicUrl") || given.has("secrets");
}

export function checkCallbacks(reading: SettingsReading<typeof callbackSettings>): ConfigProblem[] {
  const { values, given, where } = reading;
  const { publicUrl, allowLoopback = false } = values;
  if (!wantsCallbacks(reading)) return [];
  const problems: ConfigProblem[] = [];
  if (!given.has("publicUrl"))
    problems.push({ path: where("publicUrl"), message: "is missing; callbacks need it besides the secrets" });
  if (!given.has("secrets")) {
    const message = "is missing; callbacks need at least one secret besides the public URL";
    problems.push({ path: where("secrets"), message });
  }
  const message = publicUrl && (publicUrlProblem(publicUrl, allowLoopback) ?? lengthProblem(addressOf(publicUrl)));
  if (message !== undefined) problems.push({ path: where("publicUrl"), message });
  return problems;
}

function lengthProblem(publicUrl: string): string | undefined {
  const excess = longestCallbackUrl(publicUrl).length - MAX_CALLBACK_URL_LENGTH;
  if (excess <= 0) return undefined;
  return `expected at most ${publicUrl.length - excess} characters, so that every callback URL stays within the API's ${MAX_CALLBACK_URL_LENGTH}; found ${publicUrl.length}`;
}

export function checkLedger({ values, where }: SettingsReading<typeof ledgerSettings>): ConfigProblem[] {
  if (values.ownerUrl !== undefined && values.url === undefined)
    return [{ path: where("ownerUrl"), message: "expected LEDGER_URL beside it, with the login of the workers" }];
  if (values.allowPlaintext === true) return [];
  return (["url", "ownerUrl"] as const).flatMap((name) => {
    const given = values[name];
    const message = given && plaintextProblem(given.reveal());
    return message === undefined ? [] : [{ path: where(name), message }];
  });
}

/** A poll holds a slot for the task that it may bring. */
export function checkWorker({ values, where }: SettingsReading<typeof workerSettings>): ConfigProblem[] {
  const { workflowTasks, workflowTaskPolls } = values;
  if (workflowTasks === undefined || workflowTaskPolls === undefined || workflowTaskPolls <= workflowTasks) return [];
  const message = `expected at most ${where("workflowTasks")}, ${workflowTasks}; found ${workflowTaskPolls}`;
  return [{ path: where("workflowTaskPolls"), message }];
}

/** Waits that grow: each must be at least as long as the one before it. */
const GROWING: readonly (readonly [keyof Timings, keyof Timings])[] = [
  ["firstPollMs", "longestPollMs"],
  ["longestPollMs", "longestPollAfterDayMs"],
];

export function checkTimings({ values, where }: SettingsReading<typeof timingSettings>): ConfigProblem[] {
  return GROWING.flatMap(([shorterKey, longerKey]) => {
    const [shorter, longer] = [values[shorterKey], values[longerKey]];
    if (shorter === undefined || longer === undefined || shorter <= longer) return [];
    const message = `expected at least ${where(shorterKey)}, ${shorter} milliseconds; found ${longer}`;
    return [{ path: where(longerKey), message }];
  });
}

/** Nothing but this product's timings begins like this. */
const OURS_ALONE = "FISCALFLOW_TIMING_";
/** Other programs may have variables that begin like these, so only a likely slip is refused. */
const SHARED = /^(COMPLIANCE|ACCOUNTING|CALLBACK|FISCALFLOW|LEDGER)_/;

/** Variables that are set, that nothing reads, and that were probably meant for the product. */
export function checkVariables(
  env: Environment,
  known: readonly string[],
  referred: ReadonlySet<string>,
): ConfigProblem[] {
  return Object.keys(env).flatMap((name) => {
    if (!env[name] || known.includes(name) || referred.has(name) || !SHARED.test(name)) return [];
    const meant = nearMiss(name, known);
    if (meant !== undefined) {
      const message = `is not known; did you mean ${meant}? (A variable that the file refers to may have any name.)`;
      return [{ path: name, message }];
    }
    return name.startsWith(OURS_ALONE) ? [{ path: name, message: "is not known, so it would change nothing" }] : [];
  });
}
