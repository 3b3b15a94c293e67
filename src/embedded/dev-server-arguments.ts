export interface DevServerSettings {
  readonly port: number;
  /** Null: without the UI. */
  readonly uiPort: number | null;
  readonly namespaces: readonly string[];
  readonly dbFilename: string | undefined;
  readonly searchAttributes: readonly string[];
  readonly logLevel: LogLevel;
  readonly dynamicConfig: DynamicConfig;
}

export type LogLevel = "debug" | "info" | "warn" | "error" | "never";
export type DynamicConfig = Readonly<Record<string, string | number | boolean>>;

/**
 * Without the first two the server serves waiting work by arrival only, and one busy tenant holds up all others. With
 * more than one partition of a queue each orders only its own share; a queue that serves a few calls a second needs no
 * second one. Without the last two each shard looks for new tasks at most 20 times a second; a server with few shards,
 * as this one, makes each step of a lone workflow wait 40 ms for it.
 */
export const SERVER_CONFIG: DynamicConfig = {
  "matching.useNewMatcher": true,
  "matching.enableFairness": true,
  "matching.numTaskqueueReadPartitions": 1,
  "matching.numTaskqueueWritePartitions": 1,
  "history.transferProcessorMaxPollRPS": 1_000,
  "history.timerProcessorMaxPollRPS": 1_000,
};

/** The command line of `temporal` for a dev server. */
export function devServerArguments(settings: DevServerSettings): string[] {
  const ui = settings.uiPort === null ? ["--headless"] : ["--ui-port", String(settings.uiPort)];
  const dynamicConfig = Object.entries({ ...SERVER_CONFIG, ...settings.dynamicConfig });
  return [
    "server",
    "start-dev",
    "--ip",
    "127.0.0.1",
    "--port",
    String(settings.port),
    "--log-level",
    settings.logLevel,
    ...ui,
    ...(settings.dbFilename === undefined ? [] : ["--db-filename", settings.dbFilename]),
    ...settings.namespaces.flatMap((namespace) => ["--namespace", namespace]),
    ...settings.searchAttributes.flatMap((name) => ["--search-attribute", `${name}=Keyword`]),
    ...dynamicConfig.flatMap(([key, value]) => ["--dynamic-config-value", `${key}=${JSON.stringify(value)}`]),
  ];
}
