import { z } from "zod";
import { INPUT_CHECK_MODES } from "../contract/input-checks.ts";
import { NAME_PATTERN } from "../contract/names.ts";
import { CURRENCY_PATTERN, INVOICE_NUMBER_FIELDS, SUPPLIER_RULES } from "../contract/reconcile.ts";
import { dialectSetting } from "./dialect-setting.ts";
import { intervalSetting } from "./interval-setting.ts";
import { COMPLIANCE_KEY } from "./key-forms.ts";
import { listSetting } from "./list-setting.ts";
import { choiceSetting, integerSetting, textSetting } from "./plain-settings.ts";
import { keyRule, secretSetting } from "./secret-settings.ts";
import { baseUrlSetting } from "./url-settings.ts";
import { sellersSetting } from "./sellers-setting.ts";
import { weightsSetting } from "./weights-setting.ts";

/** A fairness key over 64 bytes makes a workflow task fail for ever, and the business is the fairness key. */
const MAX_BUSINESS_ID_BYTES = 64;

/** In the list of businesses: any that the key reaches is served. */
export const ANY_BUSINESS = "*";

const businessId = z
  .string()
  .min(1)
  .refine((text) => text === text.trim() && Buffer.byteLength(text) <= MAX_BUSINESS_ID_BYTES && text !== ANY_BUSINESS);
const A_BUSINESS_ID = `a business id of 1 to ${MAX_BUSINESS_ID_BYTES} bytes`;

const paymentType = z.string().trim().min(1).max(50);
const A_PAYMENT_TYPE = "a code of 1 to 50 characters";

const connectionName = z.string().regex(NAME_PATTERN);
const CONNECTION_NAME = "a name of 1 to 32 characters from a-z, 0-9 and -";

/** One connection to the Compliance API; the variables describe the one called `default`. */
export const complianceSettings = {
  baseUrl: baseUrlSetting(
    (url) =>
      /\/v1\/*$/.test(url.pathname)
        ? "expected the address without a version, since every path of the API begins with /v1; found one that ends in /v1"
        : undefined,
    {
      variable: "COMPLIANCE_BASE_URL",
      meaning: "the base address of the Compliance API, without `/v1`",
      required: true,
      example: "https://compliance.example.com",
    },
  ),
  apiKey: secretSetting(keyRule(COMPLIANCE_KEY), {
    variable: "COMPLIANCE_API_KEY",
    meaning: "an API key: `cmp_sk_test_…` or `cmp_sk_live_…`",
    required: true,
    example: { env: "SHOP_COMPLIANCE_API_KEY" },
  }),
  auth: choiceSetting(["x-api-key", "bearer"], {
    variable: "COMPLIANCE_AUTH",
    meaning: "the header that carries the key: `x-api-key`, or `bearer` for `Authorization: Bearer`",
    fallback: "x-api-key",
  }),
  keyReach: choiceSetting(["organisation", "business"], {
    variable: "COMPLIANCE_KEY_REACH",
    meaning: "`organisation`: businessId is sent; `business`: the key is bound to one business, and none is sent",
    fallback: "organisation",
  }),
  businessId: textSetting(businessId, A_BUSINESS_ID, {
    variable: "COMPLIANCE_BUSINESS_ID",
    meaning:
      "with `organisation`, the business of sales that do not name one; with `business` (required then), the name of the business to which the key is bound",
    defaultText: "none",
    example: "biz_1",
    inExample: true,
  }),
  businesses: listSetting(z.literal(ANY_BUSINESS).or(businessId), `${A_BUSINESS_ID}, or "${ANY_BUSINESS}"`, {
    variable: "COMPLIANCE_BUSINESSES",
    meaning:
      "with `organisation`, the businesses that are served: another one is refused (`UnknownBusiness`), and nothing is sent for it. The key must reach them, and `fiscalflow setup` keeps Schedules for them. `businessId` is always one of them. With `*` in the list, any business that the key reaches is served; Schedules are kept for those that are named beside it",
    variableNote: "several are separated by commas",
    defaultText: "`businessId` alone; one of both must be set",
    example: ["biz_1", "biz_2"],
  }),
  sellers: sellersSetting({
    variable: "COMPLIANCE_SELLERS",
    meaning:
      "the name, PIN and address of each business, for the head of reports and receipts: the API's documents do not name the seller",
    variableNote: "JSON",
    defaultText: "none",
    example: { biz_1: { name: "Duka Moja Ltd", pin: "P051234567Z", address: "Moi Avenue 12" } },
  }),
  application: textSetting(connectionName, CONNECTION_NAME, {
    variable: "COMPLIANCE_APPLICATION",
    meaning: "the application that the key belongs to: connections of one application share one request budget",
    defaultText: "the connection's name",
    example: "shop",
  }),
  businessWeights: weightsSetting({
    variable: "COMPLIANCE_BUSINESS_WEIGHTS",
    meaning:
      "with `organisation`, the relative share of the request budget that each business gets while several wait; a business that is not named has the weight 1",
    variableNote: "JSON",
    defaultText: "all equal",
    example: { biz_1: 2 },
  }),
  stockDefault: choiceSetting(["on-submission", "on-completion", "off"], {
    variable: "COMPLIANCE_STOCK_DEFAULT",
    meaning: "when stock moves for a sale that does not set `stock` itself: `on-submission`, `on-completion` or `off`",
    fallback: "on-submission",
  }),
  inputChecks: choiceSetting(INPUT_CHECK_MODES, {
    variable: "COMPLIANCE_INPUT_CHECKS",
    meaning:
      "what happens to a new sale whose `customer.pin`, `saleDate` or `paymentTypeCode` looks wrong, and to a refund whose `returnDate` does: `refuse`, `warn` (it is sent, and the log and the starter's answer say so) or `off`",
    fallback: "warn",
  }),
  saleDatePastDays: integerSetting(
    { min: 0, max: 3_650, unit: "days" },
    {
      variable: "COMPLIANCE_SALE_DATE_PAST_DAYS",
      meaning:
        "a `saleDate` looks wrong if it is more than this many days before the start, or more than one day after it; so does a `returnDate`, counted from when the refund is asked for",
      fallback: 30,
    },
  ),
  paymentTypes: listSetting(paymentType, A_PAYMENT_TYPE, {
    variable: "COMPLIANCE_PAYMENT_TYPES",
    meaning: "the codes that `paymentTypeCode` may have; any other one looks wrong",
    variableNote: "several are separated by commas",
    defaultText: "any",
    example: ["01", "02"],
  }),
  purchasesSyncEvery: intervalSetting({
    variable: "COMPLIANCE_PURCHASES_SYNC_EVERY",
    meaning: "how often the latest purchases are synced, by a Schedule that `fiscalflow setup` keeps; or `off`",
    fallback: "1 hour",
  }),
  purchasesSweepEvery: intervalSetting({
    variable: "COMPLIANCE_PURCHASES_SWEEP_EVERY",
    meaning: "how often all purchases are synced (one call for each hundred), by a Schedule as well; or `off`",
    fallback: "24 hours",
  }),
  reconcileEvery: intervalSetting({
    variable: "COMPLIANCE_RECONCILE_EVERY",
    meaning: "how often the ledger is reconciled with the API and with bill payments, by a Schedule as well; or `off`",
    fallback: "24 hours",
  }),
  reconcileAccounting: textSetting(connectionName, CONNECTION_NAME, {
    variable: "COMPLIANCE_RECONCILE_ACCOUNTING",
    meaning: "the connection of the accounting service whose bill payments pay the supplier invoices of this one",
    defaultText: "the one of the same name, if there is one",
    example: "shop",
  }),
  reconcileInvoiceNumberIn: choiceSetting(INVOICE_NUMBER_FIELDS, {
    variable: "COMPLIANCE_RECONCILE_INVOICE_NUMBER_IN",
    meaning: "the field of a bill payment that holds the supplier's invoice number: `billCode` or `billPaymentCode`",
    fallback: "billCode",
  }),
  reconcileSupplier: choiceSetting(SUPPLIER_RULES, {
    variable: "COMPLIANCE_RECONCILE_SUPPLIER",
    meaning:
      "whose invoices a bill payment can pay: `same-name`, those of a supplier with the same name (only letters and digits count, ignoring case), or `any`",
    fallback: "same-name",
  }),
  reconcileCurrency: textSetting(z.string().regex(CURRENCY_PATTERN), "a currency of three capital letters (ISO 4217)", {
    variable: "COMPLIANCE_RECONCILE_CURRENCY",
    meaning: "the currency of the supplier invoices, which do not state one; nothing is converted",
    fallback: "KES",
  }),
  dialect: dialectSetting({
    variable: "COMPLIANCE_DIALECT",
    meaning: "overrides for names that the API's documentation does not show, or the path of a JSON file with them",
    variableNote: "JSON, or a path to it",
    defaultText: "none",
    example: {},
  }),
};
