import type { InputChecks } from "../contract/input-checks.ts";
import type { PaymentRule } from "../contract/reconcile.ts";
import type { ServedBusinesses } from "../contract/served-businesses.ts";
import type { Secret } from "./secret.ts";
import type { RotatingSecret } from "./secret-files.ts";
import type { StatedSellers } from "./sellers-setting.ts";
import type { Timings } from "./timing-settings.ts";

/** The whole configuration of a process of the product, checked. */
export interface Config {
  /** Secrets of the connections and of callbacks that were read from files, which may change. */
  secretFiles: readonly RotatingSecret[];
  compliance: ComplianceConnection[];
  accounting: AccountingConnection[];
  /** Absent: no callback URLs are sent, and polling alone finishes every sale. */
  callbacks?: CallbackConfig;
  timings: Timings;
  ledger: LedgerConfig;
  temporal: { uiUrl?: URL; cliPath?: string; testServerPath?: string };
  worker: WorkerConfig;
  logLevel: LogLevel;
  /** 0 takes any free port. Absent: not served. */
  healthPort?: number;
  metricsPort?: number;
  /** IP addresses. */
  healthHost: string;
  metricsHost: string;
}

export interface ComplianceConnection {
  /** `^[a-z0-9-]{1,32}$` */
  name: string;
  /** Absolute, without a slash at its end. */
  baseUrl: string;
  apiKey: Secret;
  /** Which businesses the key may reach, by its prefix. */
  environment: "test" | "live";
  auth: "x-api-key" | "bearer";
  keyReach: "organisation" | "business";
  /** With `organisation` the default that is sent; with `business` a name that is never sent, and always present. */
  businessId?: string;
  /**
   * Those that are named, each once, `businessId` first: Schedules are kept for them. Empty only where any is served.
   */
  businesses: readonly string[];
  /** Those that documents are issued for, and that jobs work for: `businesses`, or any. */
  servedBusinesses: ServedBusinesses;
  /** Connections of one application share one request budget. */
  application: string;
  /** Of businesses that are not alike: their share of the budget while several wait. */
  businessWeights: Readonly<Record<string, number>>;
  /** By business, for the head of reports and receipts. */
  sellers: StatedSellers;
  stockDefault: "on-submission" | "on-completion" | "off";
  inputChecks: InputChecks;
  /** How often purchases are synced, in milliseconds; `null`: by nobody but an operator. */
  purchases: SyncIntervals;
  reconcile: ReconcileSettings;
  /** A JSON object of overrides, not yet parsed; undefined where none are configured. */
  dialect: unknown;
}

export interface ReconcileSettings {
  /** How often the ledger is reconciled, in milliseconds; `null`: by nobody but an operator. */
  everyMs: number | null;
  /**
   * The connection of the accounting service whose payments count; absent: that of the same name, where there is one.
   */
  accounting?: string;
  rule: PaymentRule;
}

export interface SyncIntervals {
  /** What is new, and what may still change. */
  latestEveryMs: number | null;
  /** All of it. */
  fullEveryMs: number | null;
}

export interface AccountingConnection {
  name: string;
  /** Absolute, without a slash at its end. */
  baseUrl: string;
  apiKey: Secret;
  environment: "development" | "production";
  /** With it every request is signed. */
  clientSecret?: Secret;
  /** All verify; empty: webhooks cannot be received. */
  webhookSecrets: Secret[];
  /** How often bill payments are synced, in milliseconds; `null`: by nobody but an operator. */
  billPayments: SyncIntervals;
  dialect: unknown;
}

export interface CallbackConfig {
  /** Without a slash at its end. */
  publicUrl: string;
  /** At least one. The first signs, all verify. */
  secrets: Secret[];
  /** Where the receiver listens; 0 takes any free port. */
  port: number;
  /** An IP address. */
  host: string;
  allowLoopback: boolean;
}

/** What a worker process carries at once. */
export interface WorkerConfig {
  cachedWorkflows: number;
  workflowTasks: number;
  /** At most `workflowTasks`. */
  workflowTaskPolls: number;
  reuseV8Context: boolean;
  /** Serve the Nexus service `fiscal`. */
  nexus: boolean;
}

export interface LedgerConfig {
  /** `postgres://…`; absent: an embedded PostgreSQL in `home`. */
  url?: Secret;
  /** Of the login that owns the tables, for `fiscalflow setup`. */
  ownerUrl?: Secret;
  /** Absolute folder. */
  home: string;
}

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
