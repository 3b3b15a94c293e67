import { z } from "zod";

import { INPUT_CHECK_MODES, PIN } from "../contract/input-checks.ts";
import { NAME_PATTERN } from "../contract/names.ts";
import { CURRENCY_PATTERN, INVOICE_NUMBER_FIELDS, SUPPLIER_RULES } from "../contract/jobs.ts";
import {
  ACCOUNTING_CLIENT_SECRET,
  ACCOUNTING_KEY,
  ACCOUNTING_WEBHOOK_SECRET,
  COMPLIANCE_KEY,
  keyRule,
  secret,
  secrets,
} from "./secret-settings.ts";
import { LOOPBACK } from "./process-settings.ts";
import {
  byBusiness,
  choice,
  dialect,
  expected,
  flag,
  host,
  integer,
  interval,
  list,
  port,
  strictFields,
  text,
} from "./setting-kinds.ts";
import { baseUrl, plainUrl } from "./urls.ts";

/** A fairness key over 64 bytes makes a workflow task fail for ever, and the business is the fairness key. */
const MAX_BUSINESS_ID_BYTES = 64;

/** In the list of businesses: any that the key reaches is served. */
export const ANY_BUSINESS = "*";

const A_BUSINESS_ID = `a business id of 1 to ${MAX_BUSINESS_ID_BYTES} bytes`;
const isBusinessId = (id: string): boolean =>
  id !== "" && id === id.trim() && Buffer.byteLength(id) <= MAX_BUSINESS_ID_BYTES && id !== ANY_BUSINESS;
const BUSINESS_OR_ANY = `${A_BUSINESS_ID}, or "${ANY_BUSINESS}"`;
const businessOrAny = z
  .string(expected(BUSINESS_OR_ANY))
  .refine((id) => id === ANY_BUSINESS || isBusinessId(id), expected(BUSINESS_OR_ANY));
const connectionName = text(NAME_PATTERN, "a name of 1 to 32 characters from a-z, 0-9 and -");

function shortText(most: number, what: string) {
  const wrong = expected(`${what} of 1 to ${most} characters`);
  return z.string(wrong).trim().min(1, wrong).max(most, wrong);
}

/** Temporal clamps a weight to this range without a word, so what is outside of it is refused here. */
const [LEAST, MOST] = [0.001, 1000];
const wrongWeight = expected(`a weight from ${LEAST} to ${MOST}`);
const weight = z.number(wrongWeight).min(LEAST, wrongWeight).max(MOST, wrongWeight);

const SELLER = '{"name": "Duka Moja Ltd", "pin": "P051234567Z", "address": "Moi Avenue 12"}';
const A_PIN = "a PIN of the tax authority (A or P, nine digits, a capital letter, such as P051234567Z)";
/** Who sells, as the shop states it: the API's documents do not name the seller. */
const seller = strictFields(
  {
    name: shortText(300, "a name"),
    pin: z.string(expected(A_PIN)).trim().regex(PIN, expected(A_PIN)).optional(),
    /** Address, telephone and the like; each line break begins a new line. */
    address: shortText(300, "an address").optional(),
  },
  `who the business is, such as ${SELLER}`,
);
export type StatedSeller = z.output<typeof seller>;

const noVersion = (url: URL): string | undefined =>
  /\/v1\/*$/.test(url.pathname)
    ? "expected the address without a version, since every path of the API begins with /v1; found one that ends in /v1"
    : undefined;

/** Of a secret that signs callback URLs. */
const MIN_SECRET_LENGTH = 32;
const longEnough = (value: string): string | undefined =>
  value.length < MIN_SECRET_LENGTH
    ? `expected at least ${MIN_SECRET_LENGTH} characters, found ${value.length}; \`openssl rand -base64 32\` makes one`
    : undefined;

/** One connection to the Compliance API; the variables describe the one called `default`. */
export const complianceSettings = {
  baseUrl: baseUrl(noVersion).meta({
    variable: "COMPLIANCE_BASE_URL",
    meaning: "the base address of the Compliance API, without `/v1`",
    example: "https://compliance.example.com",
  }),
  apiKey: secret(keyRule(COMPLIANCE_KEY)).meta({
    variable: "COMPLIANCE_API_KEY",
    meaning: "an API key: `cmp_sk_test_…` or `cmp_sk_live_…`",
    example: { env: "SHOP_COMPLIANCE_API_KEY" },
  }),
  auth: choice(["x-api-key", "bearer"]).default("x-api-key").meta({
    variable: "COMPLIANCE_AUTH",
    meaning: "the header that carries the key: `x-api-key`, or `bearer` for `Authorization: Bearer`",
  }),
  keyReach: choice(["organisation", "business"]).default("organisation").meta({
    variable: "COMPLIANCE_KEY_REACH",
    meaning: "`organisation`: businessId is sent; `business`: the key is bound to one business, and none is sent",
  }),
  businessId: z.string(expected(A_BUSINESS_ID)).refine(isBusinessId, expected(A_BUSINESS_ID)).optional().meta({
    variable: "COMPLIANCE_BUSINESS_ID",
    meaning:
      "with `organisation`, the business of sales that do not name one; with `business` (required then), the name of the business to which the key is bound",
    defaultText: "none",
    example: "biz_1",
    inExample: true,
  }),
  businesses: list(businessOrAny, BUSINESS_OR_ANY)
    .optional()
    .meta({
      variable: "COMPLIANCE_BUSINESSES",
      meaning:
        "with `organisation`, the businesses that are served: another one is refused (`UnknownBusiness`), and nothing is sent for it. The key must reach them, and `fiscalflow setup` keeps Schedules for them. `businessId` is always one of them. With `*` in the list, any business that the key reaches is served; Schedules are kept for those that are named beside it",
      defaultText: "`businessId` alone; one of both must be set",
      example: ["biz_1", "biz_2"],
    }),
  sellers: byBusiness(seller, `who they are, such as {"biz_1": ${SELLER}}`)
    .default({})
    .meta({
      variable: "COMPLIANCE_SELLERS",
      meaning:
        "the name, PIN and address of each business, for the head of reports and receipts: the API's documents do not name the seller",
      defaultText: "none",
      example: { biz_1: { name: "Duka Moja Ltd", pin: "P051234567Z", address: "Moi Avenue 12" } },
    }),
  application: connectionName.optional().meta({
    variable: "COMPLIANCE_APPLICATION",
    meaning: "the application that the key belongs to: connections of one application share one request budget",
    defaultText: "the connection's name",
    example: "shop",
  }),
  businessWeights: byBusiness(weight, `their weights from ${LEAST} to ${MOST}, such as {"biz_1": 2}`)
    .default({})
    .meta({
      variable: "COMPLIANCE_BUSINESS_WEIGHTS",
      meaning:
        "with `organisation`, the relative share of the request budget that each business gets while several wait; a business that is not named has the weight 1",
      defaultText: "all equal",
      example: { biz_1: 2 },
    }),
  stockDefault: choice(["on-submission", "on-completion", "off"]).default("on-submission").meta({
    variable: "COMPLIANCE_STOCK_DEFAULT",
    meaning: "when stock moves for a sale that does not set `stock` itself: `on-submission`, `on-completion` or `off`",
  }),
  inputChecks: choice(INPUT_CHECK_MODES).default("warn").meta({
    variable: "COMPLIANCE_INPUT_CHECKS",
    meaning:
      "what happens to a new sale whose `customer.pin`, `saleDate` or `paymentTypeCode` looks wrong, and to a refund whose `returnDate` does: `refuse`, `warn` (it is sent, and the log and the starter's answer say so) or `off`",
  }),
  saleDatePastDays: integer(0, 3_650, "days").default(30).meta({
    variable: "COMPLIANCE_SALE_DATE_PAST_DAYS",
    meaning:
      "a `saleDate` looks wrong if it is more than this many days before the start, or more than one day after it; so does a `returnDate`, counted from when the refund is asked for",
  }),
  paymentTypes: list(shortText(50, "a code"), "a code of 1 to 50 characters")
    .optional()
    .meta({
      variable: "COMPLIANCE_PAYMENT_TYPES",
      meaning: "the codes that `paymentTypeCode` may have; any other one looks wrong",
      defaultText: "any",
      example: ["01", "02"],
    }),
  purchasesSyncEvery: interval().prefault("1 hour").meta({
    variable: "COMPLIANCE_PURCHASES_SYNC_EVERY",
    meaning: "how often the latest purchases are synced, by a Schedule that `fiscalflow setup` keeps; or `off`",
  }),
  purchasesSweepEvery: interval().prefault("24 hours").meta({
    variable: "COMPLIANCE_PURCHASES_SWEEP_EVERY",
    meaning: "how often all purchases are synced (one call for each hundred), by a Schedule as well; or `off`",
  }),
  reconcileEvery: interval().prefault("24 hours").meta({
    variable: "COMPLIANCE_RECONCILE_EVERY",
    meaning: "how often the ledger is reconciled with the API and with bill payments, by a Schedule as well; or `off`",
  }),
  reconcileAccounting: connectionName.optional().meta({
    variable: "COMPLIANCE_RECONCILE_ACCOUNTING",
    meaning: "the connection of the accounting service whose bill payments pay the supplier invoices of this one",
    defaultText: "the one of the same name, if there is one",
    example: "shop",
  }),
  reconcileInvoiceNumberIn: choice(INVOICE_NUMBER_FIELDS).default("billCode").meta({
    variable: "COMPLIANCE_RECONCILE_INVOICE_NUMBER_IN",
    meaning: "the field of a bill payment that holds the supplier's invoice number: `billCode` or `billPaymentCode`",
  }),
  reconcileSupplier: choice(SUPPLIER_RULES).default("same-name").meta({
    variable: "COMPLIANCE_RECONCILE_SUPPLIER",
    meaning:
      "whose invoices a bill payment can pay: `same-name`, those of a supplier with the same name (only letters and digits count, ignoring case), or `any`",
  }),
  reconcileCurrency: text(CURRENCY_PATTERN, "a currency of three capital letters (ISO 4217)").default("KES").meta({
    variable: "COMPLIANCE_RECONCILE_CURRENCY",
    meaning: "the currency of the supplier invoices, which do not state one; nothing is converted",
  }),
  dialect: dialect().optional().meta({
    variable: "COMPLIANCE_DIALECT",
    meaning: "overrides for names that the API's documentation does not show, or the path of a JSON file with them",
    defaultText: "none",
    example: {},
  }),
};

/** One connection to the accounting service; the variables describe the one called `default`. */
export const accountingSettings = {
  baseUrl: baseUrl().meta({
    variable: "ACCOUNTING_BASE_URL",
    meaning: "the base address of the accounting service",
    example: "https://accounting.example.com",
  }),
  apiKey: secret(keyRule(ACCOUNTING_KEY)).meta({
    variable: "ACCOUNTING_API_KEY",
    meaning: "an API key: `sk_development_…` or `sk_production_…`",
    example: { env: "SHOP_ACCOUNTING_API_KEY" },
  }),
  clientSecret: secret(keyRule(ACCOUNTING_CLIENT_SECRET))
    .optional()
    .meta({
      variable: "ACCOUNTING_CLIENT_SECRET",
      meaning: "a client secret, `cs_…`: with it every request is signed",
      defaultText: "none: not signed",
      example: { file: "/run/secrets/accounting-client-secret" },
    }),
  webhookSecrets: secrets(keyRule(ACCOUNTING_WEBHOOK_SECRET))
    .default([])
    .meta({
      variable: "ACCOUNTING_WEBHOOK_SECRET",
      meaning: "verifies webhooks: `whsec_development_…` or `whsec_production_…`",
      defaultText: "none",
      example: [{ env: "SHOP_ACCOUNTING_WEBHOOK_SECRET" }],
    }),
  billPaymentsSyncEvery: interval().prefault("1 hour").meta({
    variable: "ACCOUNTING_BILL_PAYMENTS_SYNC_EVERY",
    meaning: "how often the latest bill payments are synced, by a Schedule that `fiscalflow setup` keeps; or `off`",
  }),
  billPaymentsSweepEvery: interval().prefault("24 hours").meta({
    variable: "ACCOUNTING_BILL_PAYMENTS_SWEEP_EVERY",
    meaning: "how often all bill payments are synced (one call for each hundred), by a Schedule as well; or `off`",
  }),
  dialect: dialect().optional().meta({
    variable: "ACCOUNTING_DIALECT",
    meaning:
      "overrides for names that the accounting service's documentation does not show, or the path of a JSON file with them",
    defaultText: "none",
    example: {},
  }),
};

/** The receiver of result callbacks; used once a public URL or secrets are given. */
export const callbackSettings = {
  publicUrl: plainUrl().optional().meta({
    variable: "CALLBACK_PUBLIC_URL",
    meaning: "the https URL under which the API reaches the receiver; without it, polling alone finishes every sale",
    defaultText: "none: no callbacks",
    example: "https://callbacks.example.com",
  }),
  secrets: secrets(longEnough)
    .optional()
    .meta({
      variable: "CALLBACK_SECRETS",
      meaning: `at least ${MIN_SECRET_LENGTH} characters each: the first one signs callback URLs, and all of them are accepted`,
      defaultText: "none",
      example: [{ env: "CALLBACK_SECRET_OF_THIS_YEAR" }, { file: "/run/secrets/callback-secret-of-last-year" }],
    }),
  port: port().default(8080).meta({
    variable: "CALLBACK_PORT",
    meaning: "the port on which the receiver listens",
  }),
  host: host().default(LOOPBACK).meta({
    variable: "CALLBACK_HOST",
    meaning:
      "the IP address on which `CALLBACK_PORT` listens: the loopback address suits a proxy on the same machine that ends TLS; `0.0.0.0` or `::` for all, as in the container image",
  }),
  allowLoopback: flag().default(false).meta({
    variable: "CALLBACK_ALLOW_LOOPBACK",
    meaning: "an http URL on loopback is accepted as the public URL (for the simulator and tests only)",
  }),
};
