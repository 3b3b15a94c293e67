import type { Config } from "../config/index.ts";

/** What a worker says about itself in its log: names and hosts, never a key. */
export function describeService({ compliance, callbacks, timings }: Config): Record<string, unknown> {
  return {
    connections: compliance.map(({ name, environment, application, businessId, keyReach, baseUrl }) => ({
      name,
      environment,
      application,
      businessId: businessId ?? null,
      keyReach,
      api: new URL(baseUrl).host,
    })),
    callbacks: callbacks ? new URL(callbacks.publicUrl).host : "off: polling alone finishes every sale",
    callTimeoutMs: timings.callTimeoutMs,
  };
}
