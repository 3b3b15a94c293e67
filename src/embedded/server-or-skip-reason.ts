import { type FindOptions, findTemporalCli } from "./find-temporal-cli.ts";
import { findTestServer } from "./find-test-server.ts";
import { NoTemporalServerError } from "./no-temporal-server-error.ts";

/** For test suites: an executable, or the reason for which the suite is skipped. */
export type ServerOrSkipReason =
  | { readonly path: string; readonly skipReason?: undefined }
  | { readonly path?: undefined; readonly skipReason: string };

/**
 * For `describe.skipIf(server.skipReason)`. A developer without a server still runs the other suites; with `CI` set,
 * where a skipped suite would pass for a green one, a missing server is an error; and so is a wrong path that somebody
 * gave.
 */
export function temporalCliOrSkipReason(options: FindOptions = {}): Promise<ServerOrSkipReason> {
  return orSkipReason(findTemporalCli, options);
}

/** The same for the time-skipping server. */
export function testServerOrSkipReason(options: FindOptions = {}): Promise<ServerOrSkipReason> {
  return orSkipReason(findTestServer, options);
}

async function orSkipReason(find: typeof findTemporalCli, options: FindOptions): Promise<ServerOrSkipReason> {
  try {
    return { path: await find(options) };
  } catch (error) {
    const env = options.env ?? process.env;
    if (!(error instanceof NoTemporalServerError) || error.binding || env["CI"]) throw error;
    return { skipReason: error.message };
  }
}
