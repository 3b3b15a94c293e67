import type { InputChecks } from "../contract/input-checks.ts";
import type { PaymentRule } from "../contract/jobs.ts";
import {
  type AccountingReading,
  applicationOf,
  businessesOf,
  type ComplianceReading,
  servedBusinessesOf,
} from "./check-settings.ts";
import type { accountingSettings, complianceSettings } from "./connection-settings.ts";
import type { SettingsReading } from "./read-settings.ts";
import type { Secret } from "./secret.ts";
import { ACCOUNTING_KEY, COMPLIANCE_KEY, keyEnvironment } from "./secret-settings.ts";
import type { SettingTable, SettingValues } from "./setting-kinds.ts";

export type ComplianceConnection = ReturnType<typeof assembleCompliance>;
export type AccountingConnection = ReturnType<typeof assembleAccounting>;

/** In milliseconds; `null`: by nobody but an operator. */
export interface SyncIntervals {
  /** What is new, and what may still change. */
  latestEveryMs: number | null;
  /** All of it. */
  fullEveryMs: number | null;
}

/** Of settings that were read without a problem, every one that is needed or has a default is there. */
export function valuesOf<S extends SettingTable>({ values }: SettingsReading<S>): SettingValues<S> {
  return values as SettingValues<S>;
}

/** A connection whose settings were read without a problem. */
export function assembleCompliance(reading: ComplianceReading) {
  const values = valuesOf<typeof complianceSettings>(reading);
  const { baseUrl, apiKey, auth, keyReach, businessId, businessWeights, sellers, stockDefault, dialect } = values;
  const { inputChecks: mode, saleDatePastDays, paymentTypes } = values;
  const inputChecks: InputChecks = { mode, saleDatePastDays, ...(paymentTypes && { paymentTypes }) };
  const purchases: SyncIntervals = {
    latestEveryMs: values.purchasesSyncEvery,
    fullEveryMs: values.purchasesSweepEvery,
  };
  const rule: PaymentRule = {
    invoiceNumberIn: values.reconcileInvoiceNumberIn,
    supplier: values.reconcileSupplier,
    currency: values.reconcileCurrency,
  };
  return {
    /** `^[a-z0-9-]{1,32}$` */
    name: reading.name,
    /** Absolute, without a slash at its end. */
    baseUrl,
    apiKey,
    /** Which businesses the key may reach, by its prefix. */
    environment: environmentOf(apiKey, COMPLIANCE_KEY),
    auth,
    keyReach,
    /** With `organisation` the default that is sent; with `business` a name that is never sent, and always present. */
    businessId,
    /**
     * Those that are named, each once, `businessId` first: Schedules are kept for them. Empty only where any is served.
     */
    businesses: businessesOf(reading),
    /** Those that documents are issued for, and that jobs work for: `businesses`, or any. */
    servedBusinesses: servedBusinessesOf(reading),
    /** Connections of one application share one request budget. */
    application: applicationOf(reading),
    businessWeights,
    sellers,
    stockDefault,
    inputChecks,
    purchases,
    /** `everyMs`: `null` is by nobody but an operator. Without `accounting`, its connection of the same name counts. */
    reconcile: { everyMs: values.reconcileEvery, accounting: values.reconcileAccounting, rule },
    /** Overrides that are not yet parsed; undefined where none are configured. */
    dialect,
  };
}

/** A connection whose settings were read without a problem. */
export function assembleAccounting(reading: AccountingReading) {
  const values = valuesOf<typeof accountingSettings>(reading);
  const { baseUrl, apiKey, clientSecret, webhookSecrets, dialect } = values;
  const billPayments: SyncIntervals = {
    latestEveryMs: values.billPaymentsSyncEvery,
    fullEveryMs: values.billPaymentsSweepEvery,
  };
  const environment = environmentOf(apiKey, ACCOUNTING_KEY);
  return { name: reading.name, baseUrl, apiKey, environment, clientSecret, webhookSecrets, billPayments, dialect };
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

/** The environment of a key that was accepted, and so begins with one of the form's prefixes. */
function environmentOf<E extends string>(key: Secret, form: { prefixes: Readonly<Record<string, E>> }): E {
  const environment = keyEnvironment(key.reveal(), form);
  if (environment === undefined) throw new TypeError("A key was accepted without an environment.");
  return environment;
}
