import { loadClientConnectConfig } from "@temporalio/envconfig";
import type { ClientConnectConfig } from "@temporalio/envconfig";
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
    const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(entries) });
    return {
      connectionOptions,
      namespace: namespace ?? "default",
      addressGiven: connectionOptions.address !== undefined,
    };
  } catch (error) {
    const message = `Temporal's configuration cannot be used: ${reasonOf(error)}`;
    throw new ConfigError([{ path: "TEMPORAL_*", message }]);
  }
}

function reasonOf(error: unknown): string {
  // The library fails this way on a file without any profile, an empty one for instance.
  if (error instanceof TypeError) return "expected [profile.<name>] tables in its file, found none";
  // A TOML error goes on with the lines of the file, which may hold a key.
  const [firstLine] = error instanceof Error ? error.message.split("\n") : [];
  return firstLine ?? "unknown reason";
}
