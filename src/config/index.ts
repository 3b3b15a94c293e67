/**
 * The configuration of a process: its settings as schemas, read from variables and the file before anything connects,
 * all problems together; and the page and the example that are made from them. What a dialect may say, the clients know.
 */
export {
  type AccountingConnection,
  type ComplianceConnection,
  starterSettings,
  type SyncIntervals,
} from "./assemble-config.ts";
export { ConfigError } from "./config-error.ts";
export { renderConfigExample, renderConfigTable } from "./config-reference.ts";
export type { StatedSeller } from "./connection-settings.ts";
export { type Config, loadConfig, type LoadConfigOptions } from "./load-config.ts";
export type { LogLevel, Timings } from "./process-settings.ts";
export { Secret } from "./secret.ts";
export { SecretFiles, type SecretWatch } from "./secret-files.ts";
export type { Environment } from "./setting-kinds.ts";
export { loadTemporalConnection, type TemporalConnection } from "./temporal-connection.ts";
export { workflowTimings } from "./workflow-timings.ts";
