/** A real Temporal server for a laptop and for tests. */
export { DevServerError } from "./start-dev-server.ts";
export { findTemporalCli } from "./find-temporal-cli.ts";
export { findTestServer } from "./find-test-server.ts";
export { NoTemporalServerError } from "./no-temporal-server-error.ts";
export { type ServerOrSkipReason, temporalCliOrSkipReason, testServerOrSkipReason } from "./server-or-skip-reason.ts";
export { type DevServer, type DevServerOptions, startDevServer } from "./start-dev-server.ts";
