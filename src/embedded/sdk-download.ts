import { chmod, readdir, rename, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { runBounded } from "./run-bounded.ts";

const STALL_MS = 20_000;
const TOTAL_MS = 10 * 60_000;
const LOOK_EVERY_MS = 500;

/**
 * The SDK offers its download only as a part of starting a server, inside its own runtime: it cannot be aborted, and
 * its runtime would take our process's signal handlers. So it runs in a process of its own, which can be ended.
 */
const DOWNLOADER = `
const [testing, kind, downloadDir, version] = process.argv.slice(1);
const { TestWorkflowEnvironment } = require(testing);
const server = { executable: { type: 'cached-download', downloadDir, version } };
const made = kind === 'cli' ? TestWorkflowEnvironment.createLocal({ server }) : TestWorkflowEnvironment.createTimeSkipping({ server });
made.then((env) => env.teardown()).then(() => process.exit(0), (error) => { console.error(error.message); process.exit(1); });
`;

export interface SdkDownload {
  readonly kind: "cli" | "test-server";
  readonly version: string;
  /** An empty folder, into which the executable is put. */
  readonly folder: string;
  readonly executable: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: (line: string) => void;
  /** How long not a single byte may arrive: behind a wall that swallows packets nothing else ends the wait. */
  readonly stallMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Lets the SDK download an executable. Returns what went wrong. */
export async function downloadBySdk(download: SdkDownload): Promise<string | undefined> {
  const stallMs = download.stallMs ?? STALL_MS;
  const stalled = new AbortController();
  let bytes = 0;
  let lastGrowthAtMs = Date.now();
  let lastReportAtMs = Date.now();
  const look = setInterval(() => {
    void folderBytes(download.folder).then((now) => {
      if (now > bytes) lastGrowthAtMs = Date.now();
      bytes = now;
      if (bytes > 0 && Date.now() - lastReportAtMs > 5_000) {
        lastReportAtMs = Date.now();
        download.onProgress(`downloading: ${Math.round(bytes / 1_000_000)} MB`);
      }
      if (Date.now() - lastGrowthAtMs > stallMs) stalled.abort(new Error(`received nothing for ${stallMs / 1_000} s`));
    });
  }, LOOK_EVERY_MS);
  try {
    const testing = createRequire(import.meta.url).resolve("@temporalio/testing");
    const args = ["-e", DOWNLOADER, testing, download.kind, download.folder, `v${download.version}`];
    const run = await runBounded(process.execPath, args, {
      env: withoutNodeOptions(download.env),
      timeoutMs: TOTAL_MS,
      signal: AbortSignal.any([stalled.signal, ...(download.signal ? [download.signal] : [])]),
    });
    // The file counts, not the exit code: the SDK gives a server five seconds to start, too few on a busy machine.
    return (await takeDownloaded(download)) ? undefined : run.problem || "no file arrived";
  } finally {
    clearInterval(look);
  }
}

/** A test runner's or debugger's options are not meant for this child. */
function withoutNodeOptions(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, NODE_OPTIONS: undefined };
}

async function takeDownloaded({ folder, executable }: SdkDownload): Promise<boolean> {
  const name = (await readdir(folder)).find((file) => file.startsWith("temporal") && !file.endsWith(".downloading"));
  if (name === undefined) return false;
  await rename(join(folder, name), join(folder, executable));
  await chmod(join(folder, executable), 0o755);
  return true;
}

async function folderBytes(folder: string): Promise<number> {
  try {
    const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size);
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  } catch {
    // A file was renamed between the two calls; the next look sees it.
    return 0;
  }
}
