/**
 * The settings of a process as schemas, read from variables and the file before anything connects, all problems
 * together. The settings of a dialect are with the clients (`dialect.ts` of each).
 *
 * Stands on: `src/contract`, `src/contract/schema`, `src/compliance`, `src/accounting`, `src/http`,
 * `src/payloads`.
 */
export { type AccountingConnection, type ComplianceConnection, sharedBy, starterSettings } from "./connections.ts";
export { ConfigError } from "./config-error.ts";
export { type Config, loadConfig, type LoadConfigOptions } from "./load-config.ts";
export { Secret, type SecretWatch } from "./secrets.ts";
export { type Environment, plaintextProblem, postgresProblem } from "./setting-kinds.ts";
export { loadTemporalConnection, type TemporalConnection } from "./temporal-connection.ts";
export { type LogLevel, type StatedSeller, type Timings, workflowTimings } from "./settings.ts";
