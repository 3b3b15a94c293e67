import {
  type ClientConfigTLS,
  type ClientConnectConfig,
  loadClientConfigProfile,
  toClientOptions,
} from "@temporalio/envconfig";
import { ConfigError } from "./config-error.ts";
import type { Environment } from "./setting-kinds.ts";

export interface TemporalConnection {
  /** For `Connection.connect` and `NativeConnection.connect`. */
  connectionOptions: ClientConnectConfig["connectionOptions"];
  namespace: string;
  /** False: neither a variable nor a profile names a server, so `demo` brings its own and others try localhost:7233. */
  addressGiven: boolean;
}

/**
 * How to reach Temporal, from Temporal's own environment configuration: the TEMPORAL_* variables and the profiles of
 * its TOML file.
 * @throws ConfigError when a profile, a certificate or the file cannot be read
 */
export function loadTemporalConnection({ env }: { env: Environment }): TemporalConnection {
  // An empty variable is what a compose file makes of one that is not set.
  const entries = Object.entries(env).filter((pair): pair is [string, string] => Boolean(pair[1]));
  try {
    const profile = loadClientConfigProfile({ overrideEnvVars: Object.fromEntries(entries) });
    requireWholePair(profile.tls);
    const { connectionOptions, namespace } = toClientOptions(profile);
    return {
      connectionOptions,
      namespace: namespace ?? "default",
      addressGiven: connectionOptions.address !== undefined,
    };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const message = `Temporal's configuration cannot be used: ${reasonOf(error)}`;
    const unreadable = error instanceof Error && "path" in error ? error.path : undefined;
    const variable = entries.find(([name, value]) => name.startsWith("TEMPORAL_") && value === unreadable)?.[0];
    throw new ConfigError([{ path: variable ?? "TEMPORAL_*", message }]);
  }
}

/**
 * Temporal's library connects without a client certificate where one half of it is missing.
 * @throws ConfigError
 */
function requireWholePair(tls: ClientConfigTLS | undefined): void {
  if (tls === undefined || tls.disabled === true || (tls.clientCert === undefined) === (tls.clientKey === undefined))
    return;
  const [path, message] =
    tls.clientKey === undefined
      ? [
          "TEMPORAL_TLS_CLIENT_KEY_PATH",
          "a client certificate needs its key: set this, or TEMPORAL_TLS_CLIENT_KEY_DATA",
        ]
      : [
          "TEMPORAL_TLS_CLIENT_CERT_PATH",
          "the key of a client certificate needs the certificate: set this, or TEMPORAL_TLS_CLIENT_CERT_DATA",
        ];
  throw new ConfigError([{ path, message }]);
}

function reasonOf(error: unknown): string {
  // The library fails this way on a file without any profile, an empty one for instance.
  if (error instanceof TypeError) return "expected [profile.<name>] tables in its file, found none";
  // A TOML error goes on with the lines of the file, which may hold a key.
  const [firstLine] = error instanceof Error ? error.message.split("\n") : [];
  return firstLine ?? "unknown reason";
}
