import { chmod, readdir, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { makeFolder } from "./make-folder.ts";
import { messageOf, runCommand, ServerError } from "./run-command.ts";

/** The Temporal CLI that is downloaded or built when none is installed; it carries server 1.29.1. */
const CLI_VERSION = "1.5.1";
/**
 * What it keeps its data by, where it is built: with the release that it names itself (1.34.1), each statement answers
 * `interrupted (9)` from some moment on, and only a restart helps (temporalio/temporal#9198).
 */
const SQLITE_VERSION = "1.44.3";
/** Priority and fairness of waiting work need this server; an older `temporal` on PATH is passed over. */
const OLDEST_SERVER = { major: 1, minor: 29 };
const EXECUTABLE = "temporal";

/** A fresh 250 MB executable is read from disk once, and a laptop may be busy. */
const CHECK_TIMEOUT_MS = 20_000;
/** For 40 MB. Behind a wall that swallows packets nothing else ends the wait. */
const DOWNLOAD_TIMEOUT_MS = 3 * 60_000;
/** Three minutes on two cores; a slow line and a slow laptop together may take several times as long. */
const BUILD_TIMEOUT_MS = 30 * 60_000;

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

interface Finding {
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** Where executables that were downloaded or built are kept, for all checkouts of one user. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const own = env["FISCALFLOW_CACHE"];
  return own || join(env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache"), "fiscalflow");
}

/**
 * A Temporal CLI, whose dev server is the demo's and the tests' server, as a command: its path, or its name where it is
 * on PATH. What is downloaded or built is kept in the cache for the next time.
 * @throws ServerError when it cannot be had, or when TEMPORAL_CLI_PATH is wrong; the signal's reason
 */
export async function findTemporalCli(options: FindOptions = {}): Promise<string> {
  const { env = process.env, onProgress = () => undefined, signal } = options;
  const finding: Finding = { env, onProgress, signal };
  const given = env["TEMPORAL_CLI_PATH"];
  const folder = join(cacheFolder(env), `temporal-cli-${CLI_VERSION}-sqlite-${SQLITE_VERSION}`);
  const cached = join(folder, EXECUTABLE);
  const intoCache = async (make: (folder: string, finding: Finding) => Promise<void>): Promise<string> => {
    await makeFolder(folder, async (half) => {
      await make(half, finding);
      await checkCli(join(half, EXECUTABLE), finding);
      // One that is there and does not work would stay for ever.
      await checkCli(cached, finding).catch(() => rm(folder, { recursive: true, force: true }));
    });
    return checkCli(cached, finding);
  };
  const searched: Record<string, () => Promise<string>> = {
    TEMPORAL_CLI_PATH: () => Promise.reject(new Error("not set")),
    "`temporal` on PATH": () => checkCli("temporal", finding),
    "the cache": () => checkCli(cached, finding),
    "the download of Temporal's SDK": () => intoCache(downloadBySdk),
    "building it with `go build`": () => intoCache(goBuild),
  };
  // What somebody names is taken, or nothing.
  const ways = given ? { TEMPORAL_CLI_PATH: () => checkCli(given, finding) } : searched;
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

/** The command, if it is a Temporal CLI whose server is new enough: `--version` names both. @throws the reason */
async function checkCli(command: string, { env, signal }: Finding): Promise<string> {
  const asked = `${command} --version`;
  const run = runCommand(command, ["--version"], { env, timeoutMs: CHECK_TIMEOUT_MS, signal });
  const output = await run.catch((cause: unknown) => {
    throw new Error(`${asked} ${messageOf(cause)}`, { cause });
  });
  const [server, major, minor] = /Server (\d+)\.(\d+)[\d.]*/.exec(output) ?? [];
  if (server === undefined)
    throw new Error(`${asked} does not name a server, as the Temporal CLI does: ${output.slice(0, 200)}`);
  const age = Number(major) - OLDEST_SERVER.major || Number(minor) - OLDEST_SERVER.minor;
  if (age < 0)
    throw new Error(`${command} carries ${server}; ${OLDEST_SERVER.major}.${OLDEST_SERVER.minor} or newer is needed`);
  return command;
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

/** @throws what went wrong */
async function downloadBySdk(folder: string, { env, onProgress, signal }: Finding): Promise<void> {
  onProgress(`downloading the Temporal CLI ${CLI_VERSION}`);
  const testing = createRequire(import.meta.url).resolve("@temporalio/testing");
  const problem = await runCommand(process.execPath, ["-e", DOWNLOADER, testing, folder, `v${CLI_VERSION}`], {
    // A test runner's or debugger's options are not meant for this child.
    env: { ...env, NODE_OPTIONS: undefined },
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    signal,
  }).then(() => "no file arrived", messageOf);
  // The file counts, not the exit code: the SDK gives a server five seconds to start, too few on a busy machine.
  const name = (await readdir(folder)).find((file) => file.startsWith("temporal") && !file.endsWith(".downloading"));
  if (name === undefined) throw new Error(problem);
  await rename(join(folder, name), join(folder, EXECUTABLE));
  await chmod(join(folder, EXECUTABLE), 0o755);
}

/** @throws what went wrong */
async function goBuild(folder: string, { env, onProgress, signal }: Finding): Promise<void> {
  onProgress(`building the Temporal CLI ${CLI_VERSION} with go, once, for about 3 minutes`);
  // Without the symbol tables the executable is a third smaller.
  const flags = `-s -w -X github.com/temporalio/cli/temporalcli.Version=${CLI_VERSION}`;
  const program = "github.com/temporalio/cli/cmd/temporal";
  for (const args of [
    ["mod", "init", "temporal-cli"],
    ["get", `${program}@v${CLI_VERSION}`, `modernc.org/sqlite@v${SQLITE_VERSION}`],
    ["build", "-ldflags", flags, "-o", EXECUTABLE, program],
  ])
    await runCommand("go", args, {
      // The executable is for this machine, and the module for nobody's workspace.
      env: { ...env, GOOS: undefined, GOARCH: undefined, GOFLAGS: undefined, GOWORK: "off" },
      cwd: folder,
      timeoutMs: BUILD_TIMEOUT_MS,
      signal,
    });
}
