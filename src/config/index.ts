/**
 * The configuration of a process: its settings as schemas, read from variables and the file before anything connects,
 * all problems together. What a dialect may say, the clients know: the process hands in their check (`load-config.ts`),
 * since nothing here imports them. Of the callbacks it knows how long a URL can get.
 */
export { type AccountingConnection, type ComplianceConnection, starterSettings } from "./connections.ts";
export { ConfigError } from "./config-error.ts";
export { type Config, loadConfig, type LoadConfigOptions } from "./load-config.ts";
export { Secret, SecretFiles, type SecretWatch } from "./secrets.ts";
export type { Environment } from "./setting-kinds.ts";
export { loadTemporalConnection, type TemporalConnection } from "./temporal-connection.ts";
export { type LogLevel, type StatedSeller, type Timings, workflowTimings } from "./settings.ts";
