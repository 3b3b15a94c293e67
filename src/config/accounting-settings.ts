import { dialectSetting } from "./dialect-setting.ts";
import { intervalSetting } from "./interval-setting.ts";
import { ACCOUNTING_CLIENT_SECRET, ACCOUNTING_KEY, ACCOUNTING_WEBHOOK_SECRET } from "./key-forms.ts";
import { keyRule, secretListSetting, secretSetting } from "./secret-settings.ts";
import { baseUrlSetting } from "./url-settings.ts";

/** One connection to the accounting service; the variables describe the one called `default`. */
export const accountingSettings = {
  baseUrl: baseUrlSetting(() => undefined, {
    variable: "ACCOUNTING_BASE_URL",
    meaning: "the base address of the accounting service",
    required: true,
    example: "https://accounting.example.com",
  }),
  apiKey: secretSetting(keyRule(ACCOUNTING_KEY), {
    variable: "ACCOUNTING_API_KEY",
    meaning: "an API key: `sk_development_…` or `sk_production_…`",
    required: true,
    example: { env: "SHOP_ACCOUNTING_API_KEY" },
  }),
  clientSecret: secretSetting(keyRule(ACCOUNTING_CLIENT_SECRET), {
    variable: "ACCOUNTING_CLIENT_SECRET",
    meaning: "a client secret, `cs_…`: with it every request is signed",
    defaultText: "none: not signed",
    example: { file: "/run/secrets/accounting-client-secret" },
  }),
  webhookSecrets: secretListSetting(keyRule(ACCOUNTING_WEBHOOK_SECRET), {
    variable: "ACCOUNTING_WEBHOOK_SECRET",
    meaning: "verifies webhooks: `whsec_development_…` or `whsec_production_…`",
    variableNote: "several are separated by commas",
    fallback: [],
    defaultText: "none",
    example: [{ env: "SHOP_ACCOUNTING_WEBHOOK_SECRET" }],
  }),
  billPaymentsSyncEvery: intervalSetting({
    variable: "ACCOUNTING_BILL_PAYMENTS_SYNC_EVERY",
    meaning: "how often the latest bill payments are synced, by a Schedule that `fiscalflow setup` keeps; or `off`",
    fallback: "1 hour",
  }),
  billPaymentsSweepEvery: intervalSetting({
    variable: "ACCOUNTING_BILL_PAYMENTS_SWEEP_EVERY",
    meaning: "how often all bill payments are synced (one call for each hundred), by a Schedule as well; or `off`",
    fallback: "24 hours",
  }),
  dialect: dialectSetting({
    variable: "ACCOUNTING_DIALECT",
    meaning:
      "overrides for names that the accounting service's documentation does not show, or the path of a JSON file with them",
    variableNote: "JSON, or a path to it",
    defaultText: "none",
    example: {},
  }),
};
