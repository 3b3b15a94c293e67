import { findTemporalCli } from "../../src/servers/find-temporal-cli.ts";
import { ServerError } from "../../src/servers/run-command.ts";

/** An executable, or the reason for which suites are skipped. */
export type CliOrSkipReason =
  | { readonly path: string; readonly skipReason?: undefined }
  | { readonly path?: undefined; readonly skipReason: string };

/**
 * For `describe.skipIf(cli.skipReason)`. A developer without a server still runs the other suites; with `CI` set, where
 * a skipped suite would pass for a green one, a missing server is an error; and so is a wrong path that somebody gave.
 */
export async function temporalCliOrSkipReason(env: NodeJS.ProcessEnv = process.env): Promise<CliOrSkipReason> {
  try {
    return { path: await findTemporalCli({ env, onProgress: (line) => process.stderr.write(`${line}\n`) }) };
  } catch (error) {
    if (!(error instanceof ServerError) || env["TEMPORAL_CLI_PATH"] || env["CI"]) throw error;
    return { skipReason: error.message };
  }
}
