import type { ServedBusinesses } from "../contract/served-businesses.ts";
import type { ConfigProblem } from "./config-error.ts";
import type { accountingSettings } from "./accounting-settings.ts";
import { ANY_BUSINESS, type complianceSettings } from "./compliance-settings.ts";
import { ACCOUNTING_KEY, ACCOUNTING_WEBHOOK_SECRET, COMPLIANCE_KEY, keyEnvironment } from "./key-forms.ts";
import type { SettingsResult } from "./setting.ts";

/** What was read of a connection, whole or not: rules that need several settings look at those that there are. */
interface ConnectionReading<S extends typeof complianceSettings | typeof accountingSettings> extends SettingsResult<S> {
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
