import type { Config } from "../config/index.ts";

/** What a worker says about itself in its log: names and hosts, never a key. */
export function describeService({ compliance, accounting, callbacks, timings }: Config): Record<string, unknown> {
  return {
    connections: compliance.map(({ name, environment, application, businessId, keyReach, baseUrl }) => ({
      name,
      environment,
      application,
      businessId: businessId ?? null,
      keyReach,
      api: new URL(baseUrl).host,
    })),
    accounting: accounting.map(({ name, environment, clientSecret, baseUrl }) => ({
      name,
      environment,
      signed: clientSecret !== undefined,
      api: new URL(baseUrl).host,
    })),
    callbacks: callbacks ? new URL(callbacks.publicUrl).host : "off: polling alone finishes every sale",
    callTimeoutMs: timings.callTimeoutMs,
  };
}
