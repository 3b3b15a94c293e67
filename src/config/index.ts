/** The configuration, parsed once before anything connects. */
export type { AccountingConnection, ComplianceConnection, Config, LogLevel, SyncIntervals } from "./config.ts";
export { ConfigError } from "./config-error.ts";
export { renderConfigTable } from "./config-reference.ts";
export { loadConfig } from "./load-config.ts";
export type { LoadConfigOptions } from "./load-config.ts";
export { renderConfigExample } from "./render-config-example.ts";
export { Secret } from "./secret.ts";
export { SecretFiles, type SecretWatch } from "./secret-files.ts";
export type { Environment } from "./setting.ts";
export type { StatedSeller } from "./sellers-setting.ts";
export { starterSettings } from "./starter-settings.ts";
export { loadTemporalConnection } from "./temporal-connection.ts";
export type { TemporalConnection } from "./temporal-connection.ts";
export type { Timings } from "./timing-settings.ts";
export { workflowTimings } from "./workflow-timings.ts";
