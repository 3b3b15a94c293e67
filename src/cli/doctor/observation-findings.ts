import { parseAccountingDialect } from "../../accounting/index.ts";
import { parseDialect } from "../../compliance/index.ts";
import type { Config } from "../../config/index.ts";
import type { KeptObservation } from "../../ledger/index.ts";
import { type Finding, minuteOf, warning } from "./finding.ts";

/**
 * What the workers have seen of each configured connection; a setting that has changed since has nothing to answer for
 * any more.
 */
export function observationFindings(
  observations: readonly KeptObservation[],
  config: Pick<Config, "compliance" | "accounting">,
): Finding[] {
  return observations
    .filter((observation) => isOfTheDialect(observation, config))
    .map((observation) => {
      const { service, connection, businessId, message, count } = observation;
      const of = service === "accounting" ? `accounting connection ${connection}` : `connection ${connection}`;
      const business = businessId === undefined ? "" : `, business ${businessId}`;
      return warning(`${of}${business}, answers`, `${message} (${seenText(observation, count)})`, todoOf(observation));
    });
}

function isOfTheDialect(
  { service, connection, subject, value }: KeptObservation,
  { compliance, accounting }: Pick<Config, "compliance" | "accounting">,
): boolean {
  const ofCompliance = service === "compliance" ? compliance.find(({ name }) => name === connection) : undefined;
  const ofAccounting = service === "accounting" ? accounting.find(({ name }) => name === connection) : undefined;
  if (!ofCompliance && !ofAccounting) return false;
  if (value === undefined) return true;
  const dialect = ofCompliance
    ? parseDialect(ofCompliance.dialect ?? {}, ofCompliance.environment)
    : parseAccountingDialect(ofAccounting?.dialect ?? {});
  return settingOf(dialect, subject) === value;
}

function settingOf(dialect: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (at, name) => (typeof at === "object" && at !== null ? Reflect.get(at, name) : undefined),
      dialect,
    );
}

function seenText({ firstSeenAtMs, lastSeenAtMs }: KeptObservation, count: number): string {
  const [first, last] = [firstSeenAtMs, lastSeenAtMs].map(minuteOf);
  const times = count === 1 ? "seen once" : `seen ${count} times`;
  return first === last ? `${times}, at ${first}` : `${times} since ${first}, last at ${last}`;
}

function todoOf({ service, kind, subject }: KeptObservation): string {
  const variable = service === "compliance" ? "COMPLIANCE_DIALECT" : "ACCOUNTING_DIALECT";
  switch (kind) {
    case "not-read":
      return `set ${subject} in ${variable} to the name that the service's answers use, or to null to read nothing`;
    case "ignored":
      return `set ${subject} in ${variable} to the name that the service takes, or to null where it has none`;
    case "odd-row":
      return "correct the row in the service's dashboard, or ask the provider what the field holds";
  }
}
