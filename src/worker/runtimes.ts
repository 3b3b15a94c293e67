import type { MetricMeter } from "@temporalio/common";

import type { AccountingRuntime, KeyStandingWatch } from "../../activities/accounting.ts";
import { type SeenBefore, ServiceHealth } from "../../activities/classified-call.ts";
import {
  Catalogue,
  type ComplianceRuntime,
  CredentialCircuitBreaker,
  type KeyWatch,
} from "../../activities/compliance/index.ts";
import type { PresentKey } from "../../activities/credential-circuit-breaker.ts";
import { LOOKED_WITHIN_MS } from "../../activities/failure.ts";
import { noteOddRows, type Observer } from "../../activities/observer.ts";
import { createAccountingClient } from "../accounting/index.ts";
// Not from its index: a worker that starts need not load the receiver's server.
import { callbackUrl, createCallbackToken } from "../callbacks/callback-token.ts";
import { createComplianceClient } from "../compliance/index.ts";
import {
  type AccountingConnection,
  type ComplianceConnection,
  type Config,
  type Secret,
  type Timings,
  workflowTimings,
} from "../config/index.ts";
import type { ConnectionProfile } from "../contract/index.ts";
import type { Transport } from "../http/transport.ts";
import type { Ledger } from "../ledger/index.ts";
import { budgetRules, CircuitBreaker, FleetCount, RateLimiter } from "../quota/index.ts";
import { type KeyLog, watchBudgets } from "./watches.ts";

/** How it is noticed that a key is refused. */
interface Noticing {
  readKeysAgain: () => void;
  watch: KeyWatch;
  seenBefore: SeenBefore;
}

/**
 * What this process needs to serve each connection: its client, its catalogue, and what workflows may know of it.
 * @param transportOf of an application: one request budget stands in front of all its connections
 */
export function createComplianceRuntimes(
  connections: readonly ComplianceConnection[],
  timings: Timings,
  transportOf: (application: string) => Transport,
  nowMs: () => number,
  { readKeysAgain, watch, observer, seenBefore }: Noticing & { observer: Pick<Observer, "note"> },
): Map<string, ComplianceRuntime> {
  const healths = new Map<string, ServiceHealth>();
  const healthOf = (application: string): ServiceHealth => {
    const health = healths.get(application) ?? new ServiceHealth(nowMs, seenBefore);
    healths.set(application, health);
    return health;
  };
  return new Map(
    connections.map((connection) => {
      const { dialect } = connection;
      const transport = transportOf(connection.application);
      const client = createComplianceClient({ ...connection, transport, timeoutMs: timings.callTimeoutMs });
      const catalogue = new Catalogue(
        async (businessId) => {
          const { data: items, odd = [], bodyLength: bytes = 0 } = await client.listItems({ businessId });
          noteOddRows(
            observer,
            { service: "compliance", connection: connection.name, businessId },
            "items",
            odd,
            items.length,
          );
          return { items, odd, bytes };
        },
        nowMs,
        connections.length,
      );
      const { firstPollMs, longestPollMs, longestPollAfterDayMs, catalogueAgeMs, refusedKeyPauseMs } = timings;
      const runtime: ComplianceRuntime = {
        profile: profileOf(connection, timings),
        servedBusinesses: connection.servedBusinesses,
        inputChecks: connection.inputChecks,
        reconcile: connection.reconcile,
        client,
        dialect,
        credentialBreaker: new CredentialCircuitBreaker({
          connection: connection.name,
          key: presentKey([connection.apiKey], readKeysAgain),
          dialect,
          firstPauseMs: refusedKeyPauseMs,
          nowMs,
          watch,
        }),
        health: healthOf(connection.application),
        catalogue,
        catalogueAgeMs,
        pollBounds: { firstPollMs, longestPollMs, longestPollAfterDayMs },
      };
      return [connection.name, runtime];
    }),
  );
}

function profileOf(connection: ComplianceConnection, timings: Timings): ConnectionProfile {
  const { name, application, businessId, keyReach, stockDefault, dialect } = connection;
  return {
    connection: name,
    application,
    ...(businessId !== undefined && { businessId }),
    keyReach,
    saleKey: dialect.createSale.idempotencyKey,
    stock: stockDefault,
    timings: workflowTimings(timings),
  };
}

interface ServedAccounting {
  runtime: AccountingRuntime;
  breaker: CircuitBreaker;
}

/** What this process needs to serve each accounting connection: its client, and the circuit breaker in front of it. */
export function createAccountingRuntimes(
  connections: readonly AccountingConnection[],
  timings: Timings,
  { transport, readKeysAgain, watch, meter, seenBefore }: Noticing & { transport: Transport; meter: MetricMeter },
): Map<string, ServedAccounting> {
  const counter = meter.createCounter("fiscalflow_accounting_refused", undefined, "429s of the accounting service");
  // What has not happened yet is 0, so that the first time is an increase.
  for (const { name: connection } of connections) counter.add(0, { connection });
  return new Map(
    connections.map((connection) => {
      const { name, apiKey, clientSecret, dialect } = connection;
      const rules = budgetRules(timings.fallbackLimitPerMinute, timings.failingPauseMs);
      const onRefused = (): void => counter.add(1, { connection: name });
      const breaker = new CircuitBreaker({ transport, rules, nowMs: Date.now, onRefused });
      const { callTimeoutMs, unservedAfterMs } = timings;
      const client = createAccountingClient({ ...connection, transport: breaker, timeoutMs: callTimeoutMs });
      const profile = { connection: name, callTimeoutMs, unservedAfterMs };
      const health = new ServiceHealth(Date.now, seenBefore, "accounting");
      const key = presentKey(clientSecret ? [apiKey, clientSecret] : [apiKey], readKeysAgain);
      return [
        name,
        { runtime: { profile, client, dialect, key, keyWatch: keyWatch(name, key, watch), health }, breaker },
      ];
    }),
  );
}

/** One warning for an operation that begins to be refused, however many calls are, and one word when it works again. */
export function keyWatch(name: string, key: PresentKey, watch: KeyWatch, nowMs = Date.now): KeyStandingWatch {
  const refused = new Map<string, { status: number; sinceMs: number; seenAtMs: number; version: number | string }>();
  const isRefused = (operation: string): boolean => {
    const last = refused.get(operation);
    return last !== undefined && last.version === key.version && nowMs() - last.seenAtMs <= LOOKED_WITHIN_MS;
  };
  const connection = `accounting/${name}`;
  const trouble = (operation: string, status: number) => ({
    connection,
    operation,
    status,
    apiCode: undefined,
    businessId: undefined,
  });
  return {
    refused(operation, status) {
      const seenAtMs = nowMs();
      const { version } = key;
      const known = refused.get(operation);
      refused.set(operation, { status, sinceMs: seenAtMs, ...known, seenAtMs, version });
      if (!known) watch.refused(trouble(operation, status), () => isRefused(operation));
    },
    awaited(operation) {
      const known = refused.get(operation);
      if (known) known.seenAtMs = nowMs();
    },
    works(operation) {
      const was = refused.get(operation);
      if (!was) return;
      refused.delete(operation);
      watch.works(trouble(operation, was.status), nowMs() - was.sinceMs);
    },
  };
}

interface RateLimitersOptions {
  transport: Transport;
  counts: Ledger["quota"];
  /** Requests a minute, until headers say how many. */
  fallbackLimit: number;
  /** The first pause of an API that fails every call; later ones grow. */
  failingPauseMs: number;
  log: KeyLog;
  meter: MetricMeter;
}

interface RateLimiters {
  of: (application: string) => RateLimiter;
  /** After the last call: what it came to is still being counted. */
  close: () => Promise<void>;
}

/** One rate limiter for each application, in front of one transport. */
export function createRateLimiters(applications: readonly string[], options: RateLimitersOptions): RateLimiters {
  const { transport, counts, log, meter } = options;
  const rules = budgetRules(options.fallbackLimit, options.failingPauseMs);
  const budgets = watchBudgets(meter);
  const limiters = new Map<string, RateLimiter>();
  const fleetCounts: FleetCount[] = [];
  for (const application of applications) {
    const count = new FleetCount({
      application,
      counts,
      nowMs: Date.now,
      onAway: (reason) =>
        log.warn("the fleet's count of calls is away: this process goes by the headers alone", { application, reason }),
      onBack: (awayForMs) => log.info("the fleet's count of calls is back", { application, awayForMs }),
    });
    fleetCounts.push(count);
    const watch = budgets.watchOf(application);
    const limiter = new RateLimiter({
      application,
      transport,
      rules,
      count,
      nowMs: Date.now,
      random: Math.random,
      watch,
    });
    limiters.set(application, limiter);
  }
  const stop = budgets.start([...limiters.values()]);
  return {
    of(application) {
      const limiter = limiters.get(application);
      if (!limiter) throw new Error(`no budget was made for the application ${application}`);
      return limiter;
    },
    async close() {
      stop();
      await Promise.all(fleetCounts.map((count) => count.settled()));
    },
  };
}

/** The secrets that authenticate a connection's requests, as one key. */
function presentKey(secrets: readonly Secret[], readAgain: () => void): PresentKey {
  return {
    get version() {
      return secrets.map((secret) => secret.version).join("/");
    },
    readAgain,
  };
}

/** Signs the callback URL of a workflow with the first of the configured secrets. */
export function createCallbackUrlFor(callbacks: Config["callbacks"]): (workflowId: string) => string | undefined {
  const [signing] = callbacks?.secrets ?? [];
  if (!callbacks || !signing) return () => undefined;
  return (workflowId) => {
    try {
      return callbackUrl(callbacks, createCallbackToken({ workflowId }, signing.reveal()));
    } catch (error) {
      // A workflow that somebody started under an id of his own, too long for a URL: polling finishes it.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  };
}
