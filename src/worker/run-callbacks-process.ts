import { Client, Connection } from "@temporalio/client";
import type { MetricMeter } from "@temporalio/common";
import { once } from "node:events";
import type { Logger } from "pino";

import {
  type CallbackClient,
  createCallbackReceiver,
  createTemporalSignaller,
  DURATION_BUCKETS,
  type WebhookSource,
} from "../callbacks/index.ts";
import { type AccountingConnection, ConfigError, loadTemporalConnection, type Secret } from "../config/index.ts";
import { dataConverterOf } from "../payloads/index.ts";
import { beginProcess, type ProcessOptions } from "./begin-process.ts";
import { temporalLogger } from "./create-logger.ts";
import { whyUnusable } from "./diagnose-temporal.ts";
import { EVERY_MS } from "./each-minute.ts";
import { type ListenAddress, listenError } from "./health.ts";
import { temporalAddress } from "./require-temporal.ts";
import { gaugeIn, temporalGaugeIn, watchSecrets } from "./watches.ts";

const AWAY = "Temporal cannot be used: callbacks are answered 503 until it can";

/**
 * The process that receives result callbacks: serves until it is asked to stop, then answers what is under way.
 * @throws ConfigError, or where the port cannot be used
 */
export async function runCallbacksProcess(options: ProcessOptions): Promise<void> {
  const { env, signal } = options;
  const { config, log } = beginProcess(options, "fiscalflow-callbacks", { needs: ["callbacks"], usesLedger: false });
  const { accounting, callbacks } = config;
  if (!callbacks) throw new ConfigError([{ path: "CALLBACK_PUBLIC_URL", message: "no callbacks are configured" }]);
  const temporal = loadTemporalConnection({ env });
  // While Temporal is away the receiver is there all the same: senders that get a 503 come again.
  const connection = Connection.lazy(temporal.connectionOptions);
  const dataConverter = dataConverterOf(config.payloadKeys);
  const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
  const place = { temporal: temporalAddress(temporal), namespace: temporal.namespace };
  const { monitoringHost, metricsPort } = config;
  const meter =
    metricsPort === undefined ? undefined : await metricsAt({ host: monitoringHost, port: metricsPort }, log);
  const signaller = sayingWhenAway(createTemporalSignaller(client), {
    found: meter ? temporalGaugeIn(meter) : () => undefined,
    away: async () => log.warn({ ...place, why: await whyUnusable(temporal, env) }, AWAY),
    back: () => log.info(place, "Temporal can be used again"),
  });
  const webhooks = webhookSources(accounting);
  const receiver = createCallbackReceiver({
    secrets: presentValues(callbacks.secrets),
    readSecretsAgain: () => config.secretFiles.readAgain(),
    webhooks,
    client: signaller,
    log,
    meter,
  });
  const endReadings = config.secretFiles.start(watchSecrets(temporalLogger(log), meter && gaugeIn(meter)));
  let looks: NodeJS.Timeout | undefined;
  try {
    const url = await listen(receiver, callbacks);
    log.info(
      {
        url,
        publicHost: new URL(callbacks.publicUrl).host,
        secrets: callbacks.secrets.length,
        webhooks: [...webhooks.keys()],
        metricsPort,
        ...place,
      },
      "receiving",
    );
    await signaller.isReachable();
    // Where no probe asks, the metric would stay as it is.
    if (meter) looks = setInterval(() => void signaller.isReachable(), EVERY_MS).unref();
    if (!signal.aborted) await once(signal, "abort");
    log.info("stopping: no new callbacks are taken, those under way are answered");
  } finally {
    clearInterval(looks);
    endReadings();
    await receiver.close();
    await connection.close();
  }
  log.info("stopped");
}

/**
 * Tells what is found, and of each change from the one to the other, as far as somebody asks: probes do, and they read
 * no more than a status.
 */
function sayingWhenAway(
  signaller: CallbackClient,
  say: { found: (isReachable: boolean) => void; away: () => Promise<unknown>; back: () => void },
): CallbackClient {
  let told: Promise<unknown> | undefined;
  return {
    ...signaller,
    async isReachable() {
      const isReachable = await signaller.isReachable();
      say.found(isReachable);
      if (!isReachable) told ??= say.away();
      else if (told) {
        const before = told;
        told = undefined;
        void before.then(say.back);
      }
      return isReachable;
    },
  };
}

/** By the same exporter as a worker's. Its native code is loaded only if somebody wants the metrics. */
async function metricsAt(metrics: ListenAddress, log: Logger): Promise<MetricMeter> {
  const { installRuntime } = await import("./install-runtime.ts");
  return (await installRuntime({ log, metrics, buckets: DURATION_BUCKETS })).metricMeter;
}

async function listen(receiver: ReturnType<typeof createCallbackReceiver>, address: ListenAddress): Promise<string> {
  try {
    return await receiver.listen(address);
  } catch (error) {
    throw error instanceof Error ? listenError("CALLBACK", address, error) : error;
  }
}

/**
 * The accounting connections whose webhooks are received: those whose dialect says how they look, and that have a
 * secret.
 */
export function webhookSources(connections: readonly AccountingConnection[]): Map<string, WebhookSource> {
  return new Map(
    connections.flatMap(({ name, webhookSecrets, dialect }): [string, WebhookSource][] => {
      const { enabled, ...shape } = dialect.webhook;
      if (!enabled || webhookSecrets.length === 0) return [];
      return [[name, { secrets: presentValues(webhookSecrets), shape }]];
    }),
  );
}

/** Each time that they are gone through, what the secrets are then. */
function presentValues(secrets: readonly Secret[]): Iterable<string> {
  return {
    *[Symbol.iterator]() {
      for (const secret of secrets) yield secret.reveal();
    },
  };
}
