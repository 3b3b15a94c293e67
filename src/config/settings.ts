import { z } from "zod";

import type { WorkflowTimings } from "../contract/connection.ts";
import { INPUT_CHECK_MODES, PIN } from "../contract/input-checks.ts";
import { INVOICE_NUMBER_FIELDS, SUPPLIER_RULES } from "../contract/jobs.ts";
import { NAME_PATTERN } from "../contract/names.ts";
import { payloadKeyProblem } from "../payloads/keys.ts";
import { keyRule, KEYS, secret, secrets, unused } from "./secrets.ts";
import {
  baseUrl,
  byBusiness,
  choice,
  dialect,
  expected,
  flag,
  host,
  integer,
  interval,
  list,
  origin,
  plainUrl,
  port,
  postgresProblem,
  settings,
  type SettingTable,
  type SettingValues,
  shortText,
  text,
} from "./setting-kinds.ts";

/**
 * Where health and metrics listen unless configured otherwise: they need no password, so nobody outside of the machine
 * asks.
 */
const LOOPBACK = "127.0.0.1";

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

const SELLER = '{"name": "Duka Moja Ltd", "pin": "P051234567Z", "address": "Moi Avenue 12"}';
const A_PIN = "a PIN of the tax authority (A or P, nine digits, a capital letter, such as P051234567Z)";
/** Who sells, as the shop states it: the API's documents do not name the seller. */
const seller = z.strictObject({
  name: shortText(300, "a name"),
  pin: text(PIN, A_PIN).optional(),
  /** Address, telephone and the like; each line break begins a new line. */
  address: shortText(300, "an address").optional(),
});
export type StatedSeller = z.output<typeof seller>;

/** Of a secret that signs callback URLs. */
const MIN_SECRET_LENGTH = 32;
const longEnough = (value: string): string | undefined =>
  value.length < MIN_SECRET_LENGTH
    ? `expected at least ${MIN_SECRET_LENGTH} characters, found ${value.length}; \`openssl rand -base64 32\` makes one`
    : undefined;

/** As it stands in a header. */
const inHeader = (value: string): string | undefined =>
  longEnough(value) ??
  (/^[\x21-\x7e]+$/.test(value) ? undefined : "expected ASCII characters without spaces (not shown)");

/** One connection to the Compliance API; the variables describe the one called `default`. */
export const complianceSettings = settings("COMPLIANCE_", {
  baseUrl: baseUrl()
    .refine(
      (address) => !address.endsWith("/v1"),
      "expected the address without a version, since every path of the API begins with /v1; found one that ends in /v1",
    )
    .meta({ example: "https://compliance.example.com" })
    .describe("the base address of the Compliance API, without `/v1`"),
  apiKey: secret(keyRule(KEYS.compliance))
    .meta({ example: { env: "SHOP_COMPLIANCE_API_KEY" } })
    .describe("an API key: `cmp_sk_test_…` or `cmp_sk_live_…`"),
  auth: choice(["x-api-key", "bearer"])
    .default("x-api-key")
    .describe("the header that carries the key: `x-api-key`, or `bearer` for `Authorization: Bearer`"),
  keyReach: choice(["organisation", "business"])
    .default("organisation")
    .describe("`organisation`: businessId is sent; `business`: the key is bound to one business, and none is sent"),
  businessId: z
    .string(expected(A_BUSINESS_ID))
    .refine(isBusinessId, expected(A_BUSINESS_ID))
    .optional()
    .meta({ example: "biz_1", inExample: true })
    .describe(
      "with `organisation`, the business of sales that do not name one; with `business` (required then), the name of the business to which the key is bound",
    ),
  businesses: list(businessOrAny, BUSINESS_OR_ANY)
    .optional()
    .meta({ defaultText: "`businessId` alone; one of both must be set", example: ["biz_1", "biz_2"] })
    .describe(
      "with `organisation`, the businesses that are served: another one is refused (`UnknownBusiness`), and nothing is sent for it. The key must reach them, and `fiscalflow setup` keeps Schedules for them. `businessId` is always one of them. With `*` in the list, any business that the key reaches is served; Schedules are kept for those that are named beside it",
    ),
  sellers: byBusiness(seller, `who they are, such as {"biz_1": ${SELLER}}`)
    .default({})
    .meta({
      example: { biz_1: { name: "Duka Moja Ltd", pin: "P051234567Z", address: "Moi Avenue 12" } },
    })
    .describe(
      "the name, PIN and address of each business, for the head of reports and receipts: the API's documents do not name the seller",
    ),
  application: connectionName
    .optional()
    .meta({ defaultText: "the connection's name", example: "shop" })
    .describe("the application that the key belongs to: connections of one application share one request budget"),
  stockDefault: choice(["on-submission", "on-completion", "off"])
    .default("on-submission")
    .describe(
      "when stock moves for a sale that does not set `stock` itself: `on-submission`, `on-completion` or `off`",
    ),
  inputChecks: choice(INPUT_CHECK_MODES)
    .default("warn")
    .describe(
      "what happens to a new sale whose `customer.pin` or `saleDate` looks wrong, and to a refund whose `returnDate` does: `refuse`, `warn` (it is sent, and the log and the starter's answer say so) or `off`",
    ),
  purchasesSyncEvery: interval()
    .prefault("1 hour")
    .describe(
      "how often the latest purchases are synced, by a Schedule that `fiscalflow setup` keeps; another one syncs all of them once a day (one call for each hundred); or `off`, for both",
    ),
  reconcileEvery: interval()
    .prefault("24 hours")
    .describe(
      "how often the ledger is reconciled with the API and with bill payments, by a Schedule as well; or `off`",
    ),
  reconcileAccounting: connectionName
    .optional()
    .meta({ defaultText: "the one of the same name, if there is one", example: "shop" })
    .describe("the connection of the accounting service whose bill payments pay the supplier invoices of this one"),
  reconcileInvoiceNumberIn: choice(INVOICE_NUMBER_FIELDS)
    .default("billCode")
    .describe("the field of a bill payment that holds the supplier's invoice number: `billCode` or `billPaymentCode`"),
  reconcileSupplier: choice(SUPPLIER_RULES)
    .default("same-name")
    .describe(
      "whose invoices a bill payment can pay: `same-name`, those of a supplier with the same name (only letters and digits count, ignoring case), or `any`",
    ),
  dialect: dialect()
    .optional()
    .meta({ example: {} })
    .describe("overrides for names that the API's documentation does not show, or the path of a JSON file with them"),
});

/** One connection to the accounting service; the variables describe the one called `default`. */
export const accountingSettings = settings("ACCOUNTING_", {
  baseUrl: baseUrl()
    .meta({ example: "https://accounting.example.com" })
    .describe("the base address of the accounting service"),
  apiKey: secret(keyRule(KEYS.accounting))
    .meta({ example: { env: "SHOP_ACCOUNTING_API_KEY" } })
    .describe("an API key: `sk_development_…` or `sk_production_…`"),
  clientSecret: secret(keyRule(KEYS.clientSecret))
    .optional()
    .meta({ defaultText: "none: not signed", example: { file: "/run/secrets/accounting-client-secret" } })
    .describe("a client secret, `cs_…`: with it every request is signed"),
  webhookSecrets: secrets(keyRule(KEYS.webhookSecret))
    .default([])
    .meta({
      variable: "ACCOUNTING_WEBHOOK_SECRET",
      example: [{ env: "SHOP_ACCOUNTING_WEBHOOK_SECRET" }],
    })
    .describe("verifies webhooks: `whsec_development_…` or `whsec_production_…`"),
  billPaymentsSyncEvery: interval()
    .prefault("1 hour")
    .describe(
      "how often the latest bill payments are synced, by a Schedule that `fiscalflow setup` keeps; another one syncs all of them once a day (one call for each hundred); or `off`, for both",
    ),
  dialect: dialect()
    .optional()
    .meta({ example: {} })
    .describe(
      "overrides for names that the accounting service's documentation does not show, or the path of a JSON file with them",
    ),
});

/** The receiver of result callbacks; used once a public URL or secrets are given. */
export const callbackSettings = settings("CALLBACK_", {
  publicUrl: plainUrl()
    .optional()
    .meta({ defaultText: "none: no callbacks", example: "https://callbacks.example.com" })
    .describe("the https URL under which the API reaches the receiver; without it, polling alone finishes every sale"),
  secrets: secrets(longEnough)
    .optional()
    .meta({
      example: [{ env: "CALLBACK_SECRET_OF_THIS_YEAR" }, { file: "/run/secrets/callback-secret-of-last-year" }],
    })
    .describe(
      `at least ${MIN_SECRET_LENGTH} characters each: the first one signs callback URLs, and all of them are accepted`,
    ),
  port: port().default(8080).describe("the port on which the receiver listens"),
  host: host()
    .default(LOOPBACK)
    .describe(
      "the IP address on which `CALLBACK_PORT` listens: the loopback address suits a proxy on the same machine that ends TLS; `0.0.0.0` or `::` for all, as in the container image",
    ),
  allowLoopback: flag()
    .default(false)
    .describe("an http URL on loopback is accepted as the public URL (for the simulator and tests only)"),
});

/** Running the processes. */
export const processSettings = settings("", {
  logLevel: choice(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("the lowest level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`"),
  healthPort: port()
    .optional()
    .meta({ defaultText: "none: not served", example: 8081 })
    .describe("the port on which a worker answers `/healthz` and `/readyz`"),
  metricsPort: port()
    .optional()
    .meta({ defaultText: "none: not served", example: 9464 })
    .describe(
      "the port on which a worker, or the callback receiver, answers `/metrics`; each process of a host needs its own",
    ),
  monitoringHost: host()
    .default(LOOPBACK)
    .describe(
      "the IP address on which `HEALTH_PORT` and `METRICS_PORT` listen; `0.0.0.0` or `::` for all, as in the container image",
    ),
});

/** How much a worker process carries at once. The defaults fit a container of 1 GiB (docs/sizing.md). */
export const workerSettings = settings("FISCALFLOW_WORKER_", {
  cachedWorkflows: integer(10, 100_000, "workflows")
    .default(200)
    .describe("how many open workflows a worker keeps in memory, so that it need not replay their histories"),
  workflowTasks: integer(2, 1_000, "workflow tasks")
    .default(40)
    .describe("how many workflow tasks a worker processes at once; a worker far from its Temporal server needs more"),
  nexus: flag()
    .default(false)
    .describe(
      "the worker serves the Nexus service `fiscal`, by which workflows of other namespaces start sales; experimental",
    ),
  deployment: z
    .string(expected("a name"))
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, expected("at most 100 letters, digits, `-` and `_`"))
    .optional()
    .meta({
      variable: "FISCALFLOW_DEPLOYMENT",
      defaultText: "none: every worker gets tasks, whatever its build",
      example: "fiscalflow",
    })
    .describe(
      "the Worker Deployment of which each build is a version: Temporal then hands the tasks to the workers of the version that you set as the current one",
    ),
});

/** What Temporal keeps of workflows, encrypted by keys that it does not have. */
export const payloadSettings = settings("FISCALFLOW_PAYLOAD_", {
  keys: secrets(payloadKeyProblem)
    .default([])
    .meta({
      defaultText: "none: not encrypted",
      example: [{ env: "PAYLOAD_KEY_OF_THIS_YEAR" }, { file: "/run/secrets/payload-key-of-last-year" }],
    })
    .describe(
      "encrypt what Temporal keeps of workflows but ids and search attributes: each an id, a colon and 32 bytes in base64, such as `2026:` and what `openssl rand -base64 32` prints. The first one encrypts, and all decrypt; the same for all workers, the callback receiver, the codec server, the command line and every till",
    ),
});

/** The server that decrypts payloads for Temporal's UI and CLI; used once a token is given. */
export const codecSettings = settings("FISCALFLOW_CODEC_", {
  token: secret(inHeader)
    .optional()
    .meta({ defaultText: "none: no codec server", example: { file: "/run/secrets/codec-token" } })
    .describe(
      `what \`fiscalflow codec\` asks for, beside \`FISCALFLOW_PAYLOAD_KEYS\`: at least ${MIN_SECRET_LENGTH} characters of ASCII, without spaces. Who has it reads everything that is encrypted`,
    ),
  origins: list(origin(), "the origin of a web page, such as https://temporal.example.com")
    .default([])
    .meta({ defaultText: "none: no web page", example: ["https://temporal.example.com"] })
    .describe(
      "the web pages that may ask the codec server, by scheme, host and port: that of Temporal's UI, as a browser shows its address",
    ),
  port: port().default(8082).describe("the port on which `fiscalflow codec` listens"),
  host: host()
    .default(LOOPBACK)
    .describe(
      "the IP address on which `FISCALFLOW_CODEC_PORT` listens: the loopback address suits a proxy on the same machine that ends TLS; `0.0.0.0` or `::` for all, as in the container image",
    ),
});

export const ledgerSettings = settings("LEDGER_", {
  url: secret(postgresProblem)
    .optional()
    .meta({ defaultText: "none: an embedded PostgreSQL in `FISCALFLOW_HOME`", example: { env: "SHOP_LEDGER_URL" } })
    .describe(
      "`postgres://…`: the server that holds the ledger. One on another host needs `?sslmode=verify-full`, and with a certificate authority of your own also `&sslrootcert=<path of its certificate>`. `fiscalflow callbacks` and `fiscalflow codec` use no ledger, and read neither this address nor `LEDGER_OWNER_URL`",
    ),
  ownerUrl: secret(postgresProblem)
    .optional()
    .meta({
      defaultText: "that of `LEDGER_URL`, which can then change the events too",
      example: { env: "SHOP_LEDGER_OWNER_URL" },
    })
    .describe(
      "the same server and database with the login that owns the ledger's tables: `fiscalflow setup` makes them, or brings them to its version, and `fiscalflow ledger erase` and `fiscalflow ledger restored --erasures` erase with it; nothing else uses it",
    ),
  retentionYears: integer(0, 100, "years")
    .default(5)
    .describe(
      "for how many years after its date the law has a sale kept with its customer's name and PIN: until then `fiscalflow ledger erase` erases telephone and email alone",
    ),
  allowPlaintext: flag()
    .default(false)
    .describe(
      "a PostgreSQL on another host is accepted without `sslmode=verify-full`: the password and all records may then be read, or changed, on the way",
    ),
  home: z
    .string(expected("a folder"))
    .min(1, expected("a folder"))
    .default(".fiscalflow")
    .meta({ variable: "FISCALFLOW_HOME", defaultText: "`.fiscalflow` in the working directory" })
    .describe("the folder in which fiscalflow keeps its data on this host, shared by its processes"),
});

/** Of a process that does not use the ledger. */
export const ledgerWithoutLogins: typeof ledgerSettings = {
  ...ledgerSettings,
  url: unused(ledgerSettings.url),
  ownerUrl: unused(ledgerSettings.ownerUrl),
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function milliseconds(usual: number, min: number, max: number) {
  return integer(min, max, "milliseconds").default(usual);
}

export const timingSettings = settings("FISCALFLOW_TIMING_", {
  callTimeoutMs: milliseconds(30 * SECOND, SECOND, 5 * MINUTE).describe(
    "the longest time that one call to a service may take",
  ),
  resubmissions: integer(0, 20, "times")
    .default(3)
    .describe("how many times a rejected document is resubmitted automatically at most"),
  resubmissionWindowMs: milliseconds(5 * MINUTE, 0, DAY).describe(
    "automatic resubmissions end this long after the first rejection; from then on an operator decides",
  ),
  firstPollMs: milliseconds(5 * SECOND, SECOND, HOUR).describe(
    "the time until the first poll of a document for which no callback is expected",
  ),
  firstPollWithCallbackMs: milliseconds(MINUTE, SECOND, DAY).describe(
    "the time until the first poll of a document for which a callback is expected",
  ),
  longestPollMs: milliseconds(10 * MINUTE, SECOND, DAY).describe(
    "the longest time between two polls of a document; it grows with the document's age and reaches this within the first hour",
  ),
  longestPollAfterDayMs: milliseconds(4 * HOUR, SECOND, 7 * DAY).describe(
    "the longest time between two polls of a document that is more than a day old; reached gradually, as the document gets older",
  ),
  refusedKeyPauseMs: milliseconds(30 * SECOND, SECOND, 50 * SECOND).describe(
    "after this pause a refused key is tried again, by one call of each process; later pauses grow to twenty times this",
  ),
  failingPauseMs: milliseconds(SECOND, 1, MINUTE).describe(
    "while the API fails every call, calls are made one at a time, first after this pause; later pauses grow to thirty times this",
  ),
  slowAfterMs: milliseconds(HOUR, MINUTE, 30 * DAY).describe(
    "`authority-slow` is raised for a document that has been in flight for this long",
  ),
  unservedAfterMs: milliseconds(DAY, MINUTE, 30 * DAY).describe(
    "`unexpected-answer` is raised for a read, or the registration of an item, that the service has not served for this long; it goes on by itself once the service answers",
  ),
  catalogueAgeMs: milliseconds(10 * MINUTE, 0, DAY).describe("the list of items is read again when it is this old"),
  idempotencyKeyLifeMs: milliseconds(DAY, 0, 30 * DAY).describe(
    "how long the API is certain to remember an idempotency key; after that a create request is not repeated",
  ),
  fallbackLimitPerMinute: integer(1, 100_000, "requests a minute")
    .default(120)
    .describe("requests per minute for an application, until the API's headers state the limit"),
  refundWindowMs: milliseconds(DAY, 0, 3_650 * DAY).describe(
    "how long a completed sale that does not set `refundWindow` itself stays open for a refund; 0 closes it at once",
  ),
});

/** Every section of the JSON file. `named`: an object of connections, each with these settings. */
export const configSections: readonly { path: string; named: boolean; settings: SettingTable }[] = [
  { path: "compliance", named: true, settings: complianceSettings },
  { path: "accounting", named: true, settings: accountingSettings },
  { path: "callbacks", named: false, settings: callbackSettings },
  { path: "ledger", named: false, settings: ledgerSettings },
  { path: "payloads", named: false, settings: payloadSettings },
  { path: "codec", named: false, settings: codecSettings },
  { path: "worker", named: false, settings: workerSettings },
  { path: "", named: false, settings: processSettings },
  { path: "timings", named: false, settings: timingSettings },
];

export type Timings = SettingValues<typeof timingSettings>;

export type LogLevel = SettingValues<typeof processSettings>["logLevel"];

/** Each pause is this many times the one before it. */
const GROWTH = 3;
/** The pauses fill this part of the window: the rest is for the calls themselves. */
const FILLED = 0.8;

/** The configured timings that a workflow gets. */
export function workflowTimings(timings: Timings): WorkflowTimings {
  const { callTimeoutMs, firstPollMs, firstPollWithCallbackMs, slowAfterMs, unservedAfterMs, refundWindowMs } = timings;
  return {
    callTimeoutMs,
    resubmissionDelaysMs: growingDelays(timings.resubmissions, timings.resubmissionWindowMs * FILLED),
    firstPollMs,
    firstPollWithCallbackMs,
    slowAfterMs,
    unservedAfterMs,
    keyLifeMs: timings.idempotencyKeyLifeMs,
    refundWindowMs,
  };
}

function growingDelays(count: number, totalMs: number): number[] {
  const weights = Array.from({ length: count }, (_, index) => GROWTH ** index);
  const weightSum = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => Math.floor((totalMs * weight) / weightSum));
}
