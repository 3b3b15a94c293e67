import type { MetricMeter } from "@temporalio/common";

import type { KeyWatch } from "../../activities/compliance/index.ts";
import type { AccountingRuntime, KeyStandingWatch } from "../../activities/accounting/index.ts";
import { type SeenBefore, ServiceHealth } from "../../activities/classified-call.ts";
import { createAccountingClient, parseAccountingDialect } from "../accounting/index.ts";
import type { AccountingConnection, Timings } from "../config/index.ts";
import type { Transport } from "../http/transport.ts";
import { CircuitBreaker, budgetRules } from "../quota/index.ts";
import { presentKey } from "./present-key.ts";

export interface ServedAccounting {
  runtime: AccountingRuntime;
  breaker: CircuitBreaker;
}

/** What this process needs to serve each accounting connection: its client, and the circuit breaker in front of it. */
export function createAccountingRuntimes(
  connections: readonly AccountingConnection[],
  timings: Timings,
  {
    transport,
    readKeysAgain,
    watch,
    meter,
    seenBefore,
  }: {
    transport: Transport;
    readKeysAgain: () => Promise<void>;
    watch: KeyWatch;
    meter: MetricMeter;
    seenBefore: SeenBefore;
  },
): Map<string, ServedAccounting> {
  const counter = meter.createCounter("fiscalflow_accounting_refused", undefined, "429s of the accounting service");
  return new Map(
    connections.map(({ name, baseUrl, apiKey, clientSecret, dialect: overrides }) => {
      const dialect = parseAccountingDialect(overrides ?? {});
      const rules = budgetRules(timings.fallbackLimitPerMinute, timings.failingPauseMs);
      const onRefused = (): void => counter.add(1, { connection: name });
      const breaker = new CircuitBreaker({ transport, rules, nowMs: Date.now, onRefused });
      const client = createAccountingClient({
        baseUrl,
        apiKey,
        clientSecret,
        dialect,
        transport: breaker,
        timeoutMs: timings.callTimeoutMs,
      });
      const { callTimeoutMs, unservedAfterMs } = timings;
      const profile = { connection: name, callTimeoutMs, unservedAfterMs };
      const health = new ServiceHealth(Date.now, seenBefore, "accounting");
      const key = presentKey(clientSecret ? [apiKey, clientSecret] : [apiKey], readKeysAgain);
      return [name, { runtime: { profile, client, dialect, key, keyWatch: keyWatch(name, watch), health }, breaker }];
    }),
  );
}

/** One warning for an operation that begins to be refused, however many calls are, and one word when it works again. */
function keyWatch(name: string, watch: KeyWatch): KeyStandingWatch {
  const refused = new Map<string, { status: number; sinceMs: number }>();
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
      if (refused.has(operation)) return;
      refused.set(operation, { status, sinceMs: Date.now() });
      watch.refused(trouble(operation, status));
    },
    works(operation) {
      const was = refused.get(operation);
      if (!was) return;
      refused.delete(operation);
      watch.works(trouble(operation, was.status), Date.now() - was.sinceMs);
    },
  };
}
