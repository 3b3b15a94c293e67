import { setTimeout as delay } from "node:timers/promises";

import { SEARCH_ATTRIBUTES } from "../contract/names.ts";
import {
  devServerArguments,
  type DevServerSettings,
  type DynamicConfig,
  type LogLevel,
} from "./dev-server-arguments.ts";
import { type FindOptions, findTemporalCli } from "./find-temporal-cli.ts";
import { freePort, isPortFree } from "./free-port.ts";
import { type GuardedChild, spawnGuarded } from "./spawn-guarded.ts";
import { waitUntilReady } from "./wait-until-ready.ts";

/** The dev server was found, and did not come up. The message carries the last lines that it wrote. */
export class DevServerError extends Error {
  override readonly name = "DevServerError";
  readonly code = "DEV_SERVER_START_FAILED";

  constructor(problem: string, output: string, options?: ErrorOptions) {
    super(output === "" ? problem : `${problem}\nIts last lines:\n${output}`, options);
  }
}

export interface DevServerOptions extends FindOptions {
  /** Of the gRPC API; default and 0: a free one. */
  readonly port?: number;
  /** Of Temporal's UI; 0: a free one; default and null: no UI. */
  readonly uiPort?: number | null;
  /** Default: `default`, which exists in any case. */
  readonly namespaces?: readonly string[];
  /** Where workflows survive a restart; default: in memory. */
  readonly dbFilename?: string;
  /** All of type Keyword; default: those of the contract. */
  readonly searchAttributes?: readonly string[];
  /** Of the server's own log, which is kept to be shown when it fails. Default: `warn`. */
  readonly logLevel?: LogLevel;
  /** Added to the settings that make it serve waiting work by priority and fairness. */
  readonly dynamicConfig?: DynamicConfig;
  /** Default: 60,000. */
  readonly startTimeoutMs?: number;
}

/**
 * A running Temporal server on loopback. It ends with our process, however that ends (on Windows: unless that is
 * killed).
 */
export interface DevServer {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  readonly uiUrl: string | undefined;
  readonly pid: number;
  /** The last lines that it wrote. */
  output(): string;
  /** Asks it to end and waits; after 10 s it is killed. May be called again. */
  stop(): Promise<void>;
  /** Ends it at once, as a power cut would. */
  kill(): void;
}

const START_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 10_000;
/** Between our look at a free port and its use somebody else may take it. */
const PORT_ATTEMPTS = 5;

/**
 * Starts a Temporal server and waits until its namespaces and search attributes can be used.
 * @throws NoTemporalServerError when no Temporal CLI can be had, DevServerError when the server does not come up; the
 * signal's reason
 */
export async function startDevServer(options: DevServerOptions = {}): Promise<DevServer> {
  const executable = await findTemporalCli(options);
  for (const port of [options.port, options.uiPort]) {
    if (port && !(await isPortFree(port))) {
      throw new DevServerError(
        `Port ${port} of 127.0.0.1 is taken: another server may be running already. Choose another port, or 0 for a free one.`,
        "",
      );
    }
  }
  for (let attempt = 1; ; attempt += 1) {
    const settings = await settle(options);
    const started = await launch(executable, settings, options);
    if ("server" in started) return started.server;
    options.signal?.throwIfAborted();
    const portTaken = started.output.includes("address already in use");
    if (!portTaken || attempt === PORT_ATTEMPTS)
      throw new DevServerError(
        `The Temporal dev server (${executable}) did not start: ${started.problem}.`,
        started.output,
      );
    options.onProgress?.("a port was taken meanwhile: starting the Temporal server again");
  }
}

async function settle(options: DevServerOptions): Promise<DevServerSettings> {
  const uiPort = options.uiPort ?? null;
  return {
    port: options.port || (await freePort()),
    uiPort: uiPort === null ? null : uiPort || (await freePort()),
    namespaces: options.namespaces ?? ["default"],
    dbFilename: options.dbFilename,
    searchAttributes: options.searchAttributes ?? Object.values(SEARCH_ATTRIBUTES),
    logLevel: options.logLevel ?? "warn",
    dynamicConfig: options.dynamicConfig ?? {},
  };
}

type Launched = { readonly server: DevServer } | { readonly problem: string; readonly output: string };

async function launch(executable: string, settings: DevServerSettings, options: DevServerOptions): Promise<Launched> {
  const child = spawnGuarded(executable, devServerArguments(settings), {
    env: withoutTemporal(options.env ?? process.env),
  });
  const startTimeoutMs = options.startTimeoutMs ?? START_TIMEOUT_MS;
  const gone = new AbortController();
  void child.ended.then((end) => gone.abort(new Error(`it ${end.description}`)));
  const timeUp = new AbortController();
  const timer = setTimeout(
    () => timeUp.abort(new Error(`it was not ready after ${startTimeoutMs / 1_000} s`)),
    startTimeoutMs,
  );
  const ends = [gone.signal, timeUp.signal, ...(options.signal ? [options.signal] : [])];
  try {
    await waitUntilReady({ ...settings, signal: AbortSignal.any(ends) });
    // Ready may have been somebody else's server on a port that ours did not get.
    gone.signal.throwIfAborted();
    if (child.pid === undefined) throw new Error("it has no process");
    child.unref();
    return { server: handle(child, child.pid, settings) };
  } catch (error) {
    await end(child);
    return { problem: error instanceof Error ? error.message : String(error), output: child.output.text() };
  } finally {
    clearTimeout(timer);
  }
}

function handle(child: GuardedChild, pid: number, settings: DevServerSettings): DevServer {
  return {
    address: `127.0.0.1:${settings.port}`,
    uiUrl: settings.uiPort === null ? undefined : `http://127.0.0.1:${settings.uiPort}`,
    pid,
    output: () => child.output.text(),
    stop: () => end(child),
    kill: () => child.signal("SIGKILL"),
  };
}

async function end(child: GuardedChild): Promise<void> {
  child.signal("SIGTERM");
  const tooLate = new AbortController();
  const killing = delay(STOP_GRACE_MS, undefined, { signal: tooLate.signal }).then(
    () => child.signal("SIGKILL"),
    () => undefined,
  );
  await child.ended;
  tooLate.abort();
  await killing;
}

/** The CLI reads its own settings from TEMPORAL_*; those are meant for clients of another server. */
function withoutTemporal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("TEMPORAL_")));
}
