import type { WayResult } from "./first-way.ts";
import { whyNotExecutable } from "./find-on-path.ts";
import { runBounded } from "./run-bounded.ts";
import { OLDEST_SERVER } from "./versions.ts";

/** A fresh 250 MB executable is read from disk once, and a laptop may be busy. */
const CHECK_TIMEOUT_MS = 20_000;

/** Is it a Temporal CLI whose server is new enough? Asked by `--version`, which names both. */
export async function checkTemporalCli(path: string, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<WayResult> {
  const unfit = await whyNotExecutable(path);
  if (unfit !== undefined) return { reason: unfit };
  const run = await runBounded(path, ["--version"], { env, timeoutMs: CHECK_TIMEOUT_MS, signal });
  if (!run.succeeded) return { reason: `${path} --version ${run.problem}` };
  const server = /Server (\d+)\.(\d+)[\d.]*/.exec(run.output);
  if (server === null) {
    return {
      reason: `${path} --version does not name a server, as the Temporal CLI does: ${run.output.slice(0, 200)}`,
    };
  }
  const [major, minor] = [Number(server[1]), Number(server[2])];
  const oldest = `${OLDEST_SERVER.major}.${OLDEST_SERVER.minor}`;
  const tooOld = major < OLDEST_SERVER.major || (major === OLDEST_SERVER.major && minor < OLDEST_SERVER.minor);
  return tooOld ? { reason: `${path} carries ${server[0]}; ${oldest} or newer is needed` } : { path };
}

/** Is it the time-skipping test server? It knows no `--version`; without a port it prints its usage. */
export async function checkTestServer(path: string, env: NodeJS.ProcessEnv): Promise<WayResult> {
  const unfit = await whyNotExecutable(path);
  if (unfit !== undefined) return { reason: unfit };
  const run = await runBounded(path, [], { env, timeoutMs: CHECK_TIMEOUT_MS });
  if (run.output.includes("<port>")) return { path };
  return { reason: `${path} does not print the test server's usage: ${run.problem || run.output.slice(0, 200)}` };
}
