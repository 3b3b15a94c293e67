import { parseAccountingDialect } from "../accounting/dialect.ts";
import { parseDialect, statesSaleKey } from "../compliance/dialect.ts";
import type { ServedBusinesses } from "../contract/connection.ts";
import type { PaymentRule } from "../contract/jobs.ts";
import { fewOf } from "../contract/plain-text.ts";
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
    ...compliance.flatMap((connection) => businessProblems(connection)),
    ...applicationProblems(compliance),
    ...oneBusinessProblems(compliance),
    ...accounting.flatMap((connection) => webhookProblems(connection)),
    ...oneKeyProblems(sameKeys(accounting), "and would fetch everything twice"),
    ...compliance.flatMap((connection) => reconciliationProblems(connection, accounting)),
    ...accounting.flatMap((connection) => environmentProblems(connection, compliance)),
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
  const message = `expected no business besides "${businessId}", to which the key is bound by its reach "business"; found ${few(others.map(quoted))}. If the key is organisation-wide, its reach is "organisation"`;
  return [{ path: where("businesses"), message }];
}

/** One application is one budget and one task queue, so it cannot be two things. */
function applicationProblems(connections: readonly ComplianceReading[]): ConfigProblem[] {
  return sharedBy(connections, (connection) => [applicationOf(connection)]).flatMap(({ things, owners }) => {
    const application = things.join();
    const problem = (name: "apiKey" | "baseUrl", wanted: string, todo: string, of: ValueOf) => {
      const values = [...new Set(owners.flatMap((owner) => of(owner) ?? []))];
      const first = owners.find((owner) => of(owner) !== undefined);
      const others = owners.filter((owner) => of(owner) !== undefined && of(owner) !== values[0]);
      const [other] = others;
      if (!first || !other) return [];
      const which = `for the connections ${namesOf([first, ...others])} of the application "${application}"`;
      const message = `expected ${wanted} ${which}; found ${few(values)}. ${todo}`;
      return [{ path: other.where(name), message }];
    };
    const environment: ValueOf = ({ values }) => {
      const found = environmentOf(values.apiKey);
      return found && `a ${found} key`;
    };
    const ofKeys = "Use keys of one environment, or give each an application of its own";
    return [
      ...problem("apiKey", "keys of one environment", ofKeys, environment),
      ...problem("baseUrl", "one base URL", "Give each an application of its own", ({ values }) => values.baseUrl),
    ];
  });
}

type ValueOf = (connection: ComplianceReading) => string | undefined;

/** Through two connections, one invoice number of a business would become two documents. */
function oneBusinessProblems(connections: readonly ComplianceReading[]): ConfigProblem[] {
  const atOneUrl = sharedBy(connections, ({ values: { baseUrl } }) => (baseUrl === undefined ? [] : [baseUrl]));
  const shared = atOneUrl.flatMap(({ things: [baseUrl], owners }) =>
    sharedBy(owners, businessesOf).map((one) => ({ ...one, baseUrl })),
  );
  const problems = shared.flatMap(({ baseUrl, things, owners }) => {
    const [, second] = owners;
    if (!second) return [];
    const ids = businessesOf(second).filter((id) => things.includes(id));
    const [all, todo] = owners.length === 2 ? ["both", "one"] : ["all", "all but one"];
    const message = `expected one connection for each business; ${namesOf(owners)} ${all} reach ${few(ids.map(quoted))} at ${baseUrl}. Take that out of ${todo} of them`;
    return [{ path: second.where(ids[0] === second.values.businessId ? "businessId" : "businesses"), message }];
  });
  const isSaid = (owners: readonly unknown[]): boolean =>
    shared.some((one) => owners.every((owner) => one.owners.some((other) => other === owner)));
  const ofOneKey = sameKeys(connections).filter((owners) => !isSaid(owners));
  return [...problems, ...oneKeyProblems(ofOneKey, "and so reach the same businesses")];
}

/** Connections to one service that have the same key. */
function sameKeys<Reading extends ComplianceReading | AccountingReading>(connections: readonly Reading[]): Reading[][] {
  return sharedBy(connections, ({ values: { baseUrl, apiKey } }) =>
    apiKey ? [JSON.stringify([baseUrl, apiKey.reveal()])] : [],
  ).map(({ owners }) => owners);
}

function oneKeyProblems(sharing: readonly (ComplianceReading | AccountingReading)[][], so: string): ConfigProblem[] {
  return sharing.flatMap((owners) => {
    const [, second] = owners;
    if (!second) return [];
    const message = `expected one connection for each key; ${namesOf(owners)} have the same one ${so}. Keep one of them`;
    return [{ path: second.where("apiKey"), message }];
  });
}

/**
 * What several owners have in common, each thing once, and together those that the same owners have: told for each pair
 * of fifty owners it would be 1,225 problems.
 */
export function sharedBy<Owner>(
  owners: readonly Owner[],
  thingsOf: (owner: Owner) => readonly string[],
): { things: string[]; owners: Owner[] }[] {
  const having = new Map<string, number[]>();
  for (const [index, owner] of owners.entries())
    for (const thing of new Set(thingsOf(owner))) having.set(thing, [...(having.get(thing) ?? []), index]);
  const shared = new Map<string, { things: string[]; owners: Owner[] }>();
  for (const [thing, indexes] of having) {
    if (indexes.length < 2) continue;
    const known = shared.get(indexes.join());
    if (known) known.things.push(thing);
    else shared.set(indexes.join(), { things: [thing], owners: owners.filter((_, index) => indexes.includes(index)) });
  }
  return [...shared.values()];
}

function webhookProblems({ values, where }: AccountingReading): ConfigProblem[] {
  const ofKey = environmentOf(values.apiKey);
  const others = (values.webhookSecrets ?? []).map(environmentOf).filter((ofSecret) => ofSecret !== ofKey);
  if (ofKey === undefined || others.length === 0) return [];
  const message = `expected a webhook secret of the API key's environment, ${ofKey}; found one of ${others.join(", ")}`;
  return [{ path: where("webhookSecrets"), message }];
}

const COUNTERPART: Readonly<Record<string, string>> = { development: "test", production: "live" };

/**
 * Payments of one environment would be held against supplier invoices of the other. Where a test connection stands beside
 * a live one, each may have accounting of its own.
 */
function environmentProblems(
  { name, values, where }: AccountingReading,
  compliance: readonly ComplianceReading[],
): ConfigProblem[] {
  const found = environmentOf(values.apiKey);
  if (found === undefined) return [];
  const known = compliance.filter((connection) => environmentOf(connection.values.apiKey) !== undefined);
  const others = known.filter((connection) => environmentOf(connection.values.apiKey) !== COUNTERPART[found]);
  const heldAgainst = others.find((other) => (other.values.reconcileAccounting ?? other.name) === name);
  const other = heldAgainst ?? (others.length === known.length ? others[0] : undefined);
  if (!other) return [];
  const ofOther = environmentOf(other.values.apiKey);
  const expected = found === "production" ? "development" : "production";
  const message = `expected a ${expected} key beside the ${ofOther} key of the compliance connection "${other.name}"; found a ${found} key. Use keys of one environment`;
  return [{ path: where("apiKey"), message }];
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

function namesOf(connections: readonly { name: string }[]): string {
  return few(connections.map(({ name }) => quoted(name)));
}

const NAMED = 5;

/** `"a" and "b"`, or `"a", "b", and 7 more` of many. */
function few(texts: readonly string[]): string {
  return texts.length === 2 ? texts.join(" and ") : fewOf(texts, NAMED).join(", ");
}

function quoted(text: string): string {
  return `"${text}"`;
}
