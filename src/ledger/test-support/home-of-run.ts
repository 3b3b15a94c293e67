import { chmodSync, mkdtempSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startEmbeddedPostgres } from "../../servers/test-support/start-embedded-postgres.ts";

/** Names the folder to the test processes of the run. */
export const HOME_OF_RUN = "FISCALFLOW_TEST_LEDGER_HOME";

/**
 * One home for all test processes of a run, so that PostgreSQL's data is made once, by the first suite that wants it.
 * Its server runs as long as one of them has it; here it is waited for until it has stopped.
 */
export default function setup(): () => Promise<void> {
  const home = makeHome();
  process.env[HOME_OF_RUN] = home;
  return async () => {
    const wasUsed = (await readdir(home)).length > 0;
    // Who holds it last, stops it.
    if (wasUsed) await (await startEmbeddedPostgres({ home })).close();
    // A server that has just ended may still be writing its last files.
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
}

/** A folder that the server's unprivileged user reaches also when the tests run as root. */
export function makeHome(): string {
  const folder = mkdtempSync(join(tmpdir(), "fiscalflow-ledger-"));
  chmodSync(folder, 0o755);
  return folder;
}
