import { constants, readdirSync, statSync } from "node:fs";
import { access, chmod, mkdir, readdir, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { makeFolder } from "./make-folder.ts";
import { findOnPath, messageOf, runCommand, ServerError, StoppedError } from "./run-command.ts";

/** The Temporal CLI that is downloaded or built when none is installed; it carries server 1.29.1. */
const CLI_VERSION = "1.5.1";
/** Priority and fairness of waiting work need this server; an older `temporal` on PATH is passed over. */
const OLDEST_SERVER = { major: 1, minor: 29 };
const EXECUTABLE = "temporal";

/** A fresh 250 MB executable is read from disk once, and a laptop may be busy. */
const CHECK_TIMEOUT_MS = 20_000;
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;
/** Behind a wall that swallows packets nothing else ends the wait. */
const DOWNLOAD_STALL_MS = 20_000;
/** Three minutes on two cores; a slow line and a slow laptop together may take several times as long. */
const BUILD_TIMEOUT_MS = 30 * 60_000;
const TELL_EVERY_MS = 30_000;

export interface FindOptions {
  /** Called with what is going on while something is downloaded or built: one line at a time. */
  readonly onProgress?: ((line: string) => void) | undefined;
  /** Default: that of our process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the search, a download and a build at once, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const WHAT_TO_DO =
  "install the Temporal CLI (https://docs.temporal.io/cli) so that `temporal` is on PATH or TEMPORAL_CLI_PATH names it " +
  `(server ${OLDEST_SERVER.major}.${OLDEST_SERVER.minor} or newer), or install Go so that it can be built; ` +
  "or give TEMPORAL_ADDRESS of a server that runs already, where the command takes one.";

interface Finding extends FindOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: (line: string) => void;
}

/** Where executables that were downloaded or built are kept, for all checkouts of one user. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const own = env["FISCALFLOW_CACHE"];
  return own || join(env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache"), "fiscalflow");
}

/**
 * The path of a Temporal CLI, whose dev server is the demo's and the tests' server. What is downloaded or built is kept
 * in the cache for the next time.
 * @throws ServerError when it cannot be had, or when TEMPORAL_CLI_PATH is wrong; the signal's reason
 */
export async function findTemporalCli(options: FindOptions = {}): Promise<string> {
  const { env = process.env, onProgress = () => undefined, signal } = options;
  const finding: Finding = { env, onProgress, signal };
  const checked = (path: string): Promise<string> => checkCli(path, finding);
  const given = env["TEMPORAL_CLI_PATH"];
  const folder = join(cacheFolder(env), `temporal-cli-${CLI_VERSION}`);
  const cached = join(folder, EXECUTABLE);
  const intoCache = async (make: (folder: string, finding: Finding) => Promise<void>): Promise<string> => {
    await makeFolder(folder, async (half) => {
      await make(half, finding);
      await checked(join(half, EXECUTABLE));
      // What does not pass its check makes place; a running process keeps its open file. What did not answer in time may
      // be whole.
      await checked(cached).catch(async (error: unknown) => {
        const isUnknown = error instanceof Error && error.cause instanceof StoppedError;
        if (!isUnknown) await rm(folder, { recursive: true, force: true });
      });
    });
    return checked(cached);
  };
  const searched: Record<string, () => Promise<string>> = {
    TEMPORAL_CLI_PATH: () => refuse("not set"),
    "`temporal` on PATH": async () => checked(findOnPath("temporal", env) ?? refuse("there is none")),
    "the cache": () => checked(cached),
    "the download of Temporal's SDK": () => intoCache(downloadBySdk),
    "building it with `go install`": () => intoCache(goInstall),
  };
  // What somebody names is taken, or nothing.
  const ways = given ? { TEMPORAL_CLI_PATH: () => checked(given) } : searched;
  const tried: string[] = [];
  for (const [name, way] of Object.entries(ways)) {
    signal?.throwIfAborted();
    try {
      return await way();
    } catch (error) {
      signal?.throwIfAborted();
      tried.push(`  - ${name}: ${messageOf(error)}`);
    }
  }
  const whatToDo = given ? "correct TEMPORAL_CLI_PATH, or unset it to have the other ways tried." : WHAT_TO_DO;
  throw new ServerError(["No Temporal CLI could be had. Tried:", ...tried, `What to do: ${whatToDo}`].join("\n"));
}

function refuse(reason: string, cause?: unknown): never {
  throw new Error(reason, { cause });
}

/** The path, if it is a Temporal CLI whose server is new enough: `--version` names both. @throws the reason */
async function checkCli(path: string, { env, signal }: Finding): Promise<string> {
  await access(path, constants.X_OK);
  const run = runCommand(path, ["--version"], { env, timeoutMs: CHECK_TIMEOUT_MS, signal });
  const output = await run.catch((error: unknown) => refuse(`${path} --version ${messageOf(error)}`, error));
  const [server, major, minor] = /Server (\d+)\.(\d+)[\d.]*/.exec(output) ?? [];
  if (server === undefined)
    refuse(`${path} --version does not name a server, as the Temporal CLI does: ${output.slice(0, 200)}`);
  const age = Number(major) - OLDEST_SERVER.major || Number(minor) - OLDEST_SERVER.minor;
  if (age < 0) refuse(`${path} carries ${server}; ${OLDEST_SERVER.major}.${OLDEST_SERVER.minor} or newer is needed`);
  return path;
}

/**
 * The SDK offers its download only as a part of starting a server, inside its own runtime: it cannot be aborted, and
 * its runtime would take our process's signal handlers. So it runs in a process of its own, which can be ended.
 */
const DOWNLOADER = `
const [testing, downloadDir, version] = process.argv.slice(1);
const { TestWorkflowEnvironment } = require(testing);
TestWorkflowEnvironment.createLocal({ server: { executable: { type: 'cached-download', downloadDir, version } } })
  .then((env) => env.teardown())
  .then(() => process.exit(0), (error) => { console.error(error.message); process.exit(1); });
`;

/** @param stallMs how long not a single byte may arrive @throws what went wrong */
export async function downloadBySdk(folder: string, finding: Finding, stallMs = DOWNLOAD_STALL_MS): Promise<void> {
  const { env, onProgress, signal } = finding;
  onProgress(`downloading the Temporal CLI ${CLI_VERSION}`);
  const stalled = new AbortController();
  let [bytes, grownAtMs] = [0, Date.now()];
  const look = setInterval(() => {
    const now = folderBytes(folder);
    if (now > bytes) [bytes, grownAtMs] = [now, Date.now()];
    if (Date.now() - grownAtMs > stallMs) stalled.abort(new Error(`received nothing for ${stallMs / 1_000} s`));
  }, 500);
  const testing = createRequire(import.meta.url).resolve("@temporalio/testing");
  const problem = await runCommand(process.execPath, ["-e", DOWNLOADER, testing, folder, `v${CLI_VERSION}`], {
    // A test runner's or debugger's options are not meant for this child.
    env: { ...env, NODE_OPTIONS: undefined },
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    signal: AbortSignal.any([stalled.signal, ...(signal ? [signal] : [])]),
  }).then(() => "no file arrived", messageOf);
  clearInterval(look);
  // The file counts, not the exit code: the SDK gives a server five seconds to start, too few on a busy machine.
  const name = (await readdir(folder)).find((file) => file.startsWith("temporal") && !file.endsWith(".downloading"));
  await rename(join(folder, name ?? refuse(problem)), join(folder, EXECUTABLE));
  await chmod(join(folder, EXECUTABLE), 0o755);
}

function folderBytes(folder: string): number {
  // A file may be renamed between the two calls; the next look sees it.
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** @throws what went wrong */
async function goInstall(folder: string, { env, onProgress, signal }: Finding): Promise<void> {
  const go = findOnPath("go", env) ?? refuse("no `go` on PATH");
  const what = `building the Temporal CLI ${CLI_VERSION} with go, once, for about 3 minutes`;
  onProgress(what);
  const startedAtMs = Date.now();
  const tell = setInterval(
    () => onProgress(`${what}: ${Math.round((Date.now() - startedAtMs) / 1_000)} s`),
    TELL_EVERY_MS,
  );
  const temporaryFiles = join(folder, "go-tmp");
  await mkdir(temporaryFiles);
  // Without the symbol tables the executable is a third smaller.
  const flags = `-s -w -X github.com/temporalio/cli/temporalcli.Version=${CLI_VERSION}`;
  const program = `github.com/temporalio/cli/cmd/temporal@v${CLI_VERSION}`;
  try {
    await runCommand(go, ["install", "-ldflags", flags, program], {
      // Go's own temporary files lie in our folder, so that a killed build leaves none elsewhere. GOOS and GOARCH would
      // make go refuse GOBIN, and the executable is for this machine.
      env: { ...env, GOBIN: folder, GOTMPDIR: temporaryFiles, GOOS: undefined, GOARCH: undefined, GOFLAGS: undefined },
      cwd: folder,
      timeoutMs: BUILD_TIMEOUT_MS,
      signal,
    });
  } finally {
    clearInterval(tell);
    await rm(temporaryFiles, { recursive: true, force: true });
  }
}
