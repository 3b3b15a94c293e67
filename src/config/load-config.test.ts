import { resolve } from "node:path";

import { describe, expect, it } from "vitest";
import { TEST_KEY, CALLBACK_SECRET, COMPLIANCE, ACCOUNTING, CALLBACKS, load } from "./test-support/load.ts";

describe("the configuration from variables", () => {
  it("is empty but for defaults when nothing is set", () => {
    expect(load({})).toMatchObject({
      compliance: [],
      accounting: [],
      callbacks: undefined,
      timings: {
        callTimeoutMs: 30_000,
        resubmissions: 3,
        resubmissionWindowMs: 300_000,
        firstPollMs: 5_000,
        firstPollWithCallbackMs: 60_000,
        longestPollMs: 600_000,
        longestPollAfterDayMs: 14_400_000,
        refusedKeyPauseMs: 30_000,
        failingPauseMs: 1_000,
        slowAfterMs: 3_600_000,
        unservedAfterMs: 86_400_000,
        catalogueAgeMs: 600_000,
        idempotencyKeyLifeMs: 86_400_000,
        fallbackLimitPerMinute: 120,
        refundWindowMs: 86_400_000,
      },
      ledger: { url: undefined, home: resolve(".fiscalflow") },
      worker: { cachedWorkflows: 200, workflowTasks: 40, nexus: false },
      logLevel: "info",
      healthPort: undefined,
      metricsPort: undefined,
      monitoringHost: "127.0.0.1",
    });
  });

  it("makes the connection called default, with what is not set at its default", () => {
    const [connection, ...others] = load(COMPLIANCE).compliance;
    expect(others).toEqual([]);
    expect(connection).toMatchObject({
      name: "default",
      baseUrl: "https://api.example.com",
      environment: "test",
      auth: "x-api-key",
      keyReach: "organisation",
      businessId: undefined,
      businesses: [],
      servedBusinesses: "any",
      application: "default",
      sellers: {},
      stockDefault: "on-submission",
      reconcileEvery: 86_400_000,
      reconcile: {
        accounting: undefined,
        rule: { invoiceNumberIn: "billCode", supplier: "same-name", currency: "KES" },
      },
      statesSaleKey: false,
      dialect: { createSale: { idempotencyKey: "trusted" } },
    });
    expect(connection?.apiKey.reveal()).toBe(TEST_KEY);
  });

  it("takes every variable", () => {
    const config = load({
      ...COMPLIANCE,
      COMPLIANCE_BASE_URL: "HTTPS://API.example.com:443/tax//",
      COMPLIANCE_AUTH: "bearer",
      COMPLIANCE_KEY_REACH: "business",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      COMPLIANCE_BUSINESSES: "biz_1",
      COMPLIANCE_APPLICATION: "till",
      COMPLIANCE_STOCK_DEFAULT: "off",
      COMPLIANCE_RECONCILE_EVERY: "off",
      COMPLIANCE_RECONCILE_ACCOUNTING: "default",
      COMPLIANCE_RECONCILE_INVOICE_NUMBER_IN: "billPaymentCode",
      COMPLIANCE_RECONCILE_SUPPLIER: "any",
      COMPLIANCE_DIALECT: '{ "retry": { "businessIdIn": "body" } }',
      ...ACCOUNTING,
      ACCOUNTING_CLIENT_SECRET: "cs_dddd4444",
      ACCOUNTING_WEBHOOK_SECRET: "whsec_development_eeee5555,whsec_development_ffff6666",
      ...CALLBACKS,
      CALLBACK_SECRETS: `${CALLBACK_SECRET}, ${CALLBACK_SECRET}-older`,
      CALLBACK_PORT: "9000",
      CALLBACK_HOST: "::",
      LEDGER_URL: "postgres://fiscalflow:pass@db.example.com/ledger?sslmode=verify-full",
      FISCALFLOW_HOME: "state",
      LOG_LEVEL: "debug",
      HEALTH_PORT: "0",
      METRICS_PORT: "9464",
      FISCALFLOW_WORKER_CACHED_WORKFLOWS: "50",
      FISCALFLOW_WORKER_WORKFLOW_TASKS: "8",
      MONITORING_HOST: "::1",
      FISCALFLOW_TIMING_SLOW_AFTER_MS: "120000",
      FISCALFLOW_TIMING_FALLBACK_LIMIT_PER_MINUTE: "60",
    });
    expect(config.compliance[0]).toMatchObject({
      baseUrl: "https://api.example.com/tax",
      auth: "bearer",
      keyReach: "business",
      businessId: "biz_1",
      application: "till",
      sellers: {},
      stockDefault: "off",
      reconcileEvery: null,
      reconcile: {
        accounting: "default",
        rule: { invoiceNumberIn: "billPaymentCode", supplier: "any", currency: "KES" },
      },
      dialect: { retry: { businessIdIn: "body" } },
    });
    expect(config.worker).toEqual({
      cachedWorkflows: 50,
      workflowTasks: 8,
      nexus: false,
    });
    expect(config.accounting[0]).toMatchObject({ name: "default", environment: "development" });
    expect(config.accounting[0]?.clientSecret?.reveal()).toBe("cs_dddd4444");
    expect(config.accounting[0]?.webhookSecrets).toHaveLength(2);
    expect(config.callbacks).toMatchObject({ publicUrl: "https://cb.example.com", port: 9000, host: "::" });
    expect(config.callbacks?.allowLoopback).toBe(false);
    expect(config.callbacks?.secrets.map((secret) => secret.reveal())).toEqual([
      CALLBACK_SECRET,
      `${CALLBACK_SECRET}-older`,
    ]);
    expect(config.ledger.url?.reveal()).toBe("postgres://fiscalflow:pass@db.example.com/ledger?sslmode=verify-full");
    expect(config.ledger.home).toBe(resolve("state"));
    expect(config).toMatchObject({
      logLevel: "debug",
      healthPort: 0,
      metricsPort: 9464,
      monitoringHost: "::1",
    });
    expect(config.timings).toMatchObject({ slowAfterMs: 120_000, fallbackLimitPerMinute: 60 });
  });

  it("treats an empty variable as not set", () => {
    expect(load({ COMPLIANCE_BASE_URL: "", COMPLIANCE_API_KEY: "", LOG_LEVEL: "", CALLBACK_SECRETS: "" })).toEqual(
      load({}),
    );
  });

  it("does not switch on callbacks for a port alone", () => {
    expect(load({ CALLBACK_PORT: "8080", CALLBACK_ALLOW_LOOPBACK: "1" }).callbacks).toBeUndefined();
  });

  it("reads a dialect from the path that the variable names, from the working directory", () => {
    const readFile = (path: string) =>
      path === resolve("dialect.json") ? '{ "pull": { "path": "/v1/pull" } } // ours' : "";
    const env = { ...COMPLIANCE, COMPLIANCE_DIALECT: "dialect.json" };
    expect(load(env, undefined, { readFile }).compliance[0]?.dialect.pull.path).toBe("/v1/pull");
  });
});
