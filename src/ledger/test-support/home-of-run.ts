import { chmodSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Names the folder to the test processes of the run. */
export const HOME_OF_RUN = "FISCALFLOW_TEST_LEDGER_HOME";

/**
 * One home for all test processes of a run, so that PostgreSQL's data is made once. Nothing is started here: the first process that
 * needs the server does, as in production.
 */
export default function setup(): () => Promise<void> {
  const home = makeHome();
  process.env[HOME_OF_RUN] = home;
  return () => rm(home, { recursive: true, force: true });
}

/** A folder that the server's unprivileged user reaches also when the tests run as root. */
export function makeHome(): string {
  const folder = mkdtempSync(join(tmpdir(), "fiscalflow-ledger-"));
  chmodSync(folder, 0o755);
  return folder;
}
