import { parseAccountingDialect } from "../accounting/dialect.ts";
import { parseDialect, statesSaleKey } from "../compliance/dialect.ts";
import type { ServedBusinesses } from "../contract/connection.ts";
import type { PaymentRule } from "../contract/jobs.ts";
import { DialectError } from "../http/dialect-settings.ts";
import type { ConfigProblem } from "./config-error.ts";
import { type accountingSettings, ANY_BUSINESS, type complianceSettings } from "./settings.ts";
import { environmentOf } from "./secrets.ts";
import { type SettingsReading, valuesOf } from "./setting-kinds.ts";

/** The rules between the settings of connections, and what becomes of those that keep them. */

type ComplianceReading = SettingsReading<typeof complianceSettings> & { name: string };
type AccountingReading = SettingsReading<typeof accountingSettings> & { name: string };

export type ComplianceConnection = ReturnType<typeof assembleCompliance>;
export type AccountingConnection = ReturnType<typeof assembleAccounting>;

/** A connection whose settings were read without a problem. */
export function assembleCompliance(reading: ComplianceReading) {
  const values = valuesOf<typeof complianceSettings>(reading);
  const rule: PaymentRule = {
    invoiceNumberIn: values.reconcileInvoiceNumberIn,
    supplier: values.reconcileSupplier,
    // Supplier invoices state no currency.
    currency: "KES",
  };
  const businesses = businessesOf(reading);
  const environment = environmentOf(values.apiKey) as "test" | "live";
  const servedBusinesses: ServedBusinesses = values.businesses?.includes(ANY_BUSINESS) === true ? "any" : businesses;
  return {
    ...values,
    /** `^[a-z0-9-]{1,32}$` */
    name: reading.name,
    /** Which businesses the key may reach, by its prefix. */
    environment,
    dialect: parseDialect(values.dialect, environment),
    /** Whether the dialect says what the service does with the Idempotency-Key of a sale. */
    statesSaleKey: statesSaleKey(values.dialect),
    /** Those that are named, each once, `businessId` first: Schedules are kept for them. Empty only where any is served. */
    businesses,
    /** Those that documents are issued for, and that jobs work for: `businesses`, or any. */
    servedBusinesses,
    application: applicationOf(reading),
    /** Without `accounting`, its connection of the same name counts. */
    reconcile: { accounting: values.reconcileAccounting, rule },
  };
}

/** A connection whose settings were read without a problem. */
export function assembleAccounting(reading: AccountingReading) {
  const values = valuesOf<typeof accountingSettings>(reading);
  return {
    ...values,
    name: reading.name,
    environment: environmentOf(values.apiKey) as "development" | "production",
    dialect: parseAccountingDialect(values.dialect),
  };
}

/** What a starter has to know of the connections that the workers serve: its options of the same names. */
export function starterSettings({ compliance }: { compliance: readonly ComplianceConnection[] }) {
  return {
    businesses: Object.fromEntries(compliance.map(({ name, businessId }) => [name, businessId])),
    connections: compliance.map(({ name }) => name),
    servedBusinesses: Object.fromEntries(compliance.map(({ name, servedBusinesses }) => [name, servedBusinesses])),
    inputChecks: Object.fromEntries(compliance.map(({ name, inputChecks }) => [name, inputChecks])),
  };
}

function applicationOf({ name, values }: ComplianceReading): string {
  return values.application ?? name;
}

/** Those that are named, each once, the default one first. */
function businessesOf({ values: { businessId, businesses = [] } }: ComplianceReading): string[] {
  const named = businesses.filter((id) => id !== ANY_BUSINESS);
  return [...new Set([...(businessId === undefined ? [] : [businessId]), ...named])];
}

/** @param receives whether the process receives callbacks and webhooks */
export function checkConnections(
  compliance: readonly ComplianceReading[],
  accounting: readonly AccountingReading[],
  { receives }: { receives: boolean },
): ConfigProblem[] {
  return [
    ...compliance.flatMap((connection, index) => [
      ...businessProblems(connection),
      ...compliance
        .slice(0, index)
        .flatMap((earlier) => [
          ...applicationProblems(connection, earlier),
          ...oneBusinessProblems(connection, earlier),
        ]),
    ]),
    ...accounting.flatMap((connection, index) => [
      ...webhookProblems(connection),
      ...accounting
        .slice(0, index)
        .flatMap((earlier) => oneKeyProblems(connection, earlier, "and would fetch everything twice")),
    ]),
    ...compliance.flatMap((connection) => reconciliationProblems(connection, accounting)),
    ...compliance.flatMap((connection) => dialectProblems(connection, parseDialect)),
    ...accounting.flatMap((connection) =>
      dialectProblems(connection, (dialect) => {
        const { webhook } = parseAccountingDialect(dialect);
        if (receives && webhook.enabled && !connection.given.has("webhookSecrets")) throw new DialectError([NO_SECRET]);
      }),
    ),
  ];
}

const NO_SECRET =
  "dialect.webhook.enabled: expected a webhook secret beside it (ACCOUNTING_WEBHOOK_SECRET, or webhookSecrets of the connection); without one every webhook is answered 404";

function dialectProblems(
  { values: { dialect }, where }: ComplianceReading | AccountingReading,
  parse: (dialect: unknown) => unknown,
): ConfigProblem[] {
  try {
    parse(dialect);
    return [];
  } catch (error) {
    if (!(error instanceof DialectError)) throw error;
    return error.problems.map((message) => ({ path: where("dialect"), message }));
  }
}

function businessProblems({ values, given, where }: ComplianceReading): ConfigProblem[] {
  const { keyReach, businessId, businesses = [] } = values;
  if (keyReach === "organisation") {
    if (given.has("businessId") || given.has("businesses")) return [];
    // Nobody serves every business of an organisation without having said so.
    const message =
      'is missing, and so is the default business (businessId, COMPLIANCE_BUSINESS_ID): expected the businesses that are served, or "*" for any that the key reaches (`fiscalflow doctor` lists those)';
    return [{ path: where("businesses"), message }];
  }
  if (keyReach === undefined) return [];
  if (businessId === undefined) {
    // The name is never sent, but workflow ids, the ledger and the rule of one connection a business need it.
    const message =
      'is missing; with the key reach "business" it names the business that the key is bound to (the id is never sent, only used to tell businesses apart)';
    return [{ path: where("businessId"), message }];
  }
  // A key that is bound to one business acts for no other (Fiscal Compliance API, "Authentication", 3).
  const others = businesses.filter((id) => id !== businessId);
  if (others.length === 0) return [];
  const message = `expected no business besides "${businessId}", to which the key is bound by its reach "business"; found ${quoted(others)}. If the key is organisation-wide, its reach is "organisation"`;
  return [{ path: where("businesses"), message }];
}

/** One application is one budget and one task queue, so it cannot be two things. */
function applicationProblems(connection: ComplianceReading, earlier: ComplianceReading): ConfigProblem[] {
  const application = applicationOf(connection);
  if (application !== applicationOf(earlier)) return [];
  const both = `the connections "${earlier.name}" and "${connection.name}" of the application "${application}"`;
  const [ours, theirs] = [connection, earlier].map(({ values }) => environmentOf(values.apiKey));
  const [ourUrl, theirUrl] = [connection.values.baseUrl, earlier.values.baseUrl];
  const keys = `expected keys of one environment for ${both}; found a ${theirs} key and a ${ours} key. Use keys of one environment, or give each an application of its own`;
  const urls = `expected one base URL for ${both}; found ${theirUrl} and ${ourUrl}. Give each an application of its own`;
  return [
    ...(ours && theirs && ours !== theirs ? [{ path: connection.where("apiKey"), message: keys }] : []),
    ...(ourUrl && theirUrl && ourUrl !== theirUrl ? [{ path: connection.where("baseUrl"), message: urls }] : []),
  ];
}

/** Through two connections, one invoice number of a business would become two documents. */
function oneBusinessProblems(connection: ComplianceReading, earlier: ComplianceReading): ConfigProblem[] {
  const { baseUrl, businessId } = connection.values;
  if (baseUrl === undefined || baseUrl !== earlier.values.baseUrl) return [];
  const known = businessesOf(earlier);
  const shared = businessesOf(connection).filter((id) => known.includes(id));
  if (shared.length === 0) return oneKeyProblems(connection, earlier, "and so reach the same businesses");
  const message = `expected one connection for each business; "${earlier.name}" and "${connection.name}" both reach ${quoted(shared)} at ${baseUrl}. Take that out of one of them`;
  return [{ path: connection.where(shared[0] === businessId ? "businessId" : "businesses"), message }];
}

function oneKeyProblems<Reading extends ComplianceReading | AccountingReading>(
  connection: Reading,
  earlier: Reading,
  so: string,
): ConfigProblem[] {
  const [ours, theirs] = [connection.values, earlier.values];
  if (ours.baseUrl !== theirs.baseUrl || !ours.apiKey || ours.apiKey.reveal() !== theirs.apiKey?.reveal()) return [];
  const message = `expected one connection for each key; "${earlier.name}" and "${connection.name}" have the same one ${so}. Keep one of them`;
  return [{ path: connection.where("apiKey"), message }];
}

function webhookProblems({ values, where }: AccountingReading): ConfigProblem[] {
  const ofKey = environmentOf(values.apiKey);
  const others = (values.webhookSecrets ?? []).map(environmentOf).filter((ofSecret) => ofSecret !== ofKey);
  if (ofKey === undefined || others.length === 0) return [];
  const message = `expected a webhook secret of the API key's environment, ${ofKey}; found one of ${others.join(", ")}`;
  return [{ path: where("webhookSecrets"), message }];
}

/** Supplier invoices are held against the payments of a connection that there is. */
function reconciliationProblems(
  { values: { reconcileAccounting: name }, where }: ComplianceReading,
  accounting: readonly AccountingReading[],
): ConfigProblem[] {
  const known = accounting.map((connection) => connection.name);
  if (name === undefined || known.includes(name)) return [];
  const message = `expected a configured connection to the accounting service (${known.join(", ") || "none"}), found "${name}"`;
  return [{ path: where("reconcileAccounting"), message }];
}

function quoted(ids: readonly string[]): string {
  return ids.map((id) => `"${id}"`).join(", ");
}
