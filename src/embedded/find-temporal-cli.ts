import { executablePath, temporalCliEntry } from "./cache-folder.ts";
import { checkTemporalCli } from "./check-executable.ts";
import { findOnPath } from "./find-on-path.ts";
import { type Way, type WayResult, firstWay } from "./first-way.ts";
import { goInstall, TEMPORAL_CLI } from "./go-install.ts";
import { installInCache } from "./install-in-cache.ts";
import { downloadBySdk } from "./sdk-download.ts";
import { OLDEST_SERVER, TEMPORAL_CLI_VERSION } from "./versions.ts";

export interface FindOptions {
  /** Called with what is going on while something is downloaded or built: one line at a time. */
  readonly onProgress?: (line: string) => void;
  /** Default: that of our process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the search, a download and a build at once, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const WHAT_TO_DO =
  "install the Temporal CLI (https://docs.temporal.io/cli) so that `temporal` is on PATH or TEMPORAL_CLI_PATH names it " +
  `(server ${OLDEST_SERVER.major}.${OLDEST_SERVER.minor} or newer), or install Go so that it can be built; ` +
  "or give TEMPORAL_ADDRESS of a server that runs already, where the command takes one.";

/**
 * The path of a Temporal CLI, whose dev server is the embedded server. What is downloaded or built is kept in the cache
 * for the next time.
 * @throws NoTemporalServerError when it cannot be had, or when TEMPORAL_CLI_PATH is wrong; the signal's reason
 */
export async function findTemporalCli(options: FindOptions = {}): Promise<string> {
  const env = options.env ?? process.env;
  const onProgress = options.onProgress ?? ((): void => undefined);
  const { signal } = options;
  const entry = temporalCliEntry(env);
  const check = (path: string): Promise<WayResult> => checkTemporalCli(path, env, signal);
  const install = (make: (folder: string) => Promise<string | undefined>): Promise<WayResult> =>
    installInCache({ entry, onProgress, check, make, signal });

  const ways: Way[] = [
    {
      name: "`temporal` on PATH",
      try: async () => {
        const path = await findOnPath("temporal", env);
        return path === undefined ? { reason: "there is none" } : check(path);
      },
    },
    { name: "the cache", try: () => check(executablePath(entry)) },
    {
      name: "the download of Temporal's SDK",
      try: () => {
        onProgress(`downloading the Temporal CLI ${TEMPORAL_CLI_VERSION}`);
        const download = { kind: "cli", version: TEMPORAL_CLI_VERSION, executable: entry.executable } as const;
        return install((folder) => downloadBySdk({ ...download, folder, env, onProgress, signal }));
      },
    },
    {
      name: "building it with `go install`",
      try: () => install((folder) => goInstall({ program: TEMPORAL_CLI, folder, env, onProgress, signal })),
    },
  ];
  const named = env["TEMPORAL_CLI_PATH"];
  if (named) ways.unshift({ name: "TEMPORAL_CLI_PATH", binding: true, try: () => check(named) });
  else ways.unshift({ name: "TEMPORAL_CLI_PATH", try: async () => ({ reason: "not set" }) });
  return firstWay("Temporal CLI", ways, WHAT_TO_DO, signal);
}
