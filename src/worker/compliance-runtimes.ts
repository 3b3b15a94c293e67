import {
  Catalogue,
  CatalogueRoom,
  type ComplianceRuntime,
  CredentialCircuitBreaker,
  type KeyWatch,
} from "../../activities/compliance/index.ts";
import type { Observer } from "../../activities/observer.ts";
import { noteOddRows } from "../../activities/listed-rows.ts";
import { type SeenBefore, ServiceHealth } from "../../activities/classified-call.ts";
import { type ComplianceDialect, createComplianceClient, parseDialect } from "../compliance/index.ts";
import { type ComplianceConnection, type Timings, workflowTimings } from "../config/index.ts";
import type { ConnectionProfile } from "../contract/index.ts";
import type { Transport } from "../http/transport.ts";
import { presentKey } from "./present-key.ts";

/**
 * What this process needs to serve each connection: its client, its catalogue, and what workflows may know of it.
 * @param transportOf of an application: one request budget stands in front of all its connections
 */
export function createComplianceRuntimes(
  connections: readonly ComplianceConnection[],
  timings: Timings,
  transportOf: (application: string) => Transport,
  nowMs: () => number,
  {
    readKeysAgain,
    watch,
    observer,
    seenBefore,
  }: {
    readKeysAgain: () => Promise<void>;
    watch: KeyWatch;
    observer: Pick<Observer, "note">;
    seenBefore: SeenBefore;
  },
): Map<string, ComplianceRuntime> {
  const healths = new Map<string, ServiceHealth>();
  const healthOf = (application: string): ServiceHealth => {
    const health = healths.get(application) ?? new ServiceHealth(nowMs, seenBefore);
    healths.set(application, health);
    return health;
  };
  const room = new CatalogueRoom();
  return new Map(
    connections.map((connection) => {
      const dialect = parseDialect(connection.dialect ?? {}, connection.environment);
      const client = createComplianceClient({
        baseUrl: connection.baseUrl,
        apiKey: connection.apiKey,
        auth: connection.auth,
        keyReach: connection.keyReach,
        dialect,
        transport: transportOf(connection.application),
        timeoutMs: timings.callTimeoutMs,
      });
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
        room,
      );
      const { firstPollMs, longestPollMs, longestPollAfterDayMs, catalogueAgeMs, refusedKeyPauseMs } = timings;
      const runtime: ComplianceRuntime = {
        profile: profileOf(connection, dialect, timings),
        businessWeights: connection.businessWeights,
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

function profileOf(connection: ComplianceConnection, dialect: ComplianceDialect, timings: Timings): ConnectionProfile {
  const { name, application, businessId, keyReach, stockDefault } = connection;
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
