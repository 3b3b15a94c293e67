import { executablePath, testServerEntry } from "./cache-folder.ts";
import { checkTestServer } from "./check-executable.ts";
import type { FindOptions } from "./find-temporal-cli.ts";
import { type Way, type WayResult, firstWay } from "./first-way.ts";
import { installInCache } from "./install-in-cache.ts";
import { fetchTestServerByMaven } from "./maven-test-server.ts";
import { downloadBySdk } from "./sdk-download.ts";
import { TEST_SERVER_VERSION } from "./versions.ts";

const WHAT_TO_DO =
  "allow the download from temporal.download, or install Java 11 or newer and Maven, or let TEMPORAL_TEST_SERVER_PATH name a " +
  "temporal-test-server (from the releases of Temporal's Java SDK).";

/**
 * The path of a time-skipping test server, for `TestWorkflowEnvironment.createTimeSkipping({ server: { executable: {
 * type: 'existing-path', path } } })`. What is downloaded is kept in the cache for the next time.
 * @throws NoTemporalServerError when it cannot be had, or when TEMPORAL_TEST_SERVER_PATH is wrong.
 */
export async function findTestServer(options: FindOptions = {}): Promise<string> {
  const env = options.env ?? process.env;
  const onProgress = options.onProgress ?? ((): void => undefined);
  const entry = testServerEntry(env);
  const { executable } = entry;
  const check = (path: string): Promise<WayResult> => checkTestServer(path, env);
  const install = (make: (folder: string) => Promise<string | undefined>): Promise<WayResult> =>
    installInCache({ entry, onProgress, check, make });

  const ways: Way[] = [
    { name: "the cache", try: () => check(executablePath(entry)) },
    {
      name: "the download of Temporal's SDK",
      try: () => {
        onProgress(`downloading the time-skipping test server ${TEST_SERVER_VERSION}`);
        const download = { kind: "test-server", version: TEST_SERVER_VERSION, executable } as const;
        return install((folder) => downloadBySdk({ ...download, folder, env, onProgress }));
      },
    },
    {
      name: "Maven with Java",
      try: () => install((folder) => fetchTestServerByMaven({ folder, executable, env, onProgress })),
    },
  ];
  const named = env["TEMPORAL_TEST_SERVER_PATH"];
  if (named) ways.unshift({ name: "TEMPORAL_TEST_SERVER_PATH", binding: true, try: () => check(named) });
  else ways.unshift({ name: "TEMPORAL_TEST_SERVER_PATH", try: async () => ({ reason: "not set" }) });
  return firstWay("time-skipping test server", ways, WHAT_TO_DO);
}
