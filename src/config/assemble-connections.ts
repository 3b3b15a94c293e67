import { applicationOf, businessesOf, servedBusinessesOf } from "./check-connections.ts";
import type { AccountingReading, ComplianceReading } from "./check-connections.ts";
import type { AccountingConnection, ComplianceConnection } from "./config.ts";
import { intervalMs } from "./interval-setting.ts";
import { ACCOUNTING_KEY, COMPLIANCE_KEY, keyEnvironment } from "./key-forms.ts";

/** A connection whose settings were read without a problem. */
export function assembleCompliance(reading: ComplianceReading): ComplianceConnection {
  const { name, values } = reading;
  const apiKey = present(values.apiKey);
  return {
    name,
    baseUrl: present(values.baseUrl),
    apiKey,
    environment: present(keyEnvironment(apiKey.reveal(), COMPLIANCE_KEY)),
    auth: present(values.auth),
    keyReach: present(values.keyReach),
    businessId: values.businessId,
    businesses: businessesOf(reading),
    servedBusinesses: servedBusinessesOf(reading),
    application: applicationOf(reading),
    businessWeights: values.businessWeights ?? {},
    sellers: values.sellers ?? {},
    stockDefault: present(values.stockDefault),
    inputChecks: {
      mode: present(values.inputChecks),
      saleDatePastDays: present(values.saleDatePastDays),
      ...(values.paymentTypes && { paymentTypes: values.paymentTypes }),
    },
    purchases: {
      latestEveryMs: intervalMs(present(values.purchasesSyncEvery)),
      fullEveryMs: intervalMs(present(values.purchasesSweepEvery)),
    },
    reconcile: {
      everyMs: intervalMs(present(values.reconcileEvery)),
      accounting: values.reconcileAccounting,
      rule: {
        invoiceNumberIn: present(values.reconcileInvoiceNumberIn),
        supplier: present(values.reconcileSupplier),
        currency: present(values.reconcileCurrency),
      },
    },
    dialect: values.dialect,
  };
}

/** A connection whose settings were read without a problem. */
export function assembleAccounting({ name, values }: AccountingReading): AccountingConnection {
  const apiKey = present(values.apiKey);
  return {
    name,
    baseUrl: present(values.baseUrl),
    apiKey,
    environment: present(keyEnvironment(apiKey.reveal(), ACCOUNTING_KEY)),
    clientSecret: values.clientSecret,
    webhookSecrets: values.webhookSecrets ?? [],
    billPayments: {
      latestEveryMs: intervalMs(present(values.billPaymentsSyncEvery)),
      fullEveryMs: intervalMs(present(values.billPaymentsSweepEvery)),
    },
    dialect: values.dialect,
  };
}

/** Without problems, every setting that is needed or has a default is there: anything else is a fault of the tables. */
function present<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("A setting that was accepted has no value; its table is at fault.");
  return value;
}
