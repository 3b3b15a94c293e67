/**
 * The servers of one host: a Temporal server for the demo and the tests, and a PostgreSQL for a ledger without a
 * `LEDGER_URL`, each found, downloaded or built, started and stopped. What is kept in them is in `src/ledger/`, which
 * starts its own PostgreSQL by `postgres-server.ts`; to a server of somebody's own, others connect.
 *
 * Stands on: nothing of ours.
 */
import { Connection } from "@temporalio/client";
import { createServer } from "node:net";

import { type FindOptions, findTemporalCli } from "./find-temporal-cli.ts";
import { type GuardedChild, messageOf, readyWithin, ServerError, spawnGuarded } from "./run-command.ts";

export interface DevServerOptions extends FindOptions {
  /** Of the gRPC API; default and 0: a free one. */
  readonly port?: number;
  /** Of Temporal's UI; 0: a free one; default: no UI. */
  readonly uiPort?: number;
  /** Default: `default`, which exists in any case. */
  readonly namespaces?: readonly string[];
  /** Where workflows survive a restart; default: in memory. */
  readonly dbFilename?: string;
  /** Names, all of type Keyword; default: none. */
  readonly searchAttributes?: readonly string[];
  /** Added to {@link SERVER_CONFIG}. */
  readonly dynamicConfig?: DynamicConfig;
  /** Default: 60,000. */
  readonly startTimeoutMs?: number;
}

type DynamicConfig = Readonly<Record<string, string | number | boolean>>;

/**
 * Without the first two the server serves waiting work by arrival only, and one busy tenant holds up all others. With
 * more than one partition of a queue each orders only its own share; a queue that serves a few calls a second needs no
 * second one. Without the last two each shard looks for new tasks at most 20 times a second; a server with few shards,
 * as this one, makes each step of a lone workflow wait 40 ms for it.
 */
export const SERVER_CONFIG: DynamicConfig = {
  "matching.useNewMatcher": true,
  "matching.enableFairness": true,
  "matching.numTaskqueueReadPartitions": 1,
  "matching.numTaskqueueWritePartitions": 1,
  "history.transferProcessorMaxPollRPS": 1_000,
  "history.timerProcessorMaxPollRPS": 1_000,
};

/** A running Temporal server on loopback. It ends with our process, which it holds open until it is stopped. */
export interface DevServer {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  readonly uiUrl: string | undefined;
  readonly pid: number;
  /** Asks it to end and waits; after 10 s it is killed. May be called again. */
  stop(): Promise<void>;
  /** Ends it at once, as a power cut would. */
  kill(): void;
}

const START_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 10_000;
const CONNECT_MS = 1_000;
const CALL_MS = 3_000;
/** Between our look at a free port and its use somebody else may take it. */
const PORT_ATTEMPTS = 5;

/**
 * Starts a Temporal server and waits until its namespaces and search attributes can be used.
 * @throws ServerError when no Temporal CLI can be had, or the server does not come up: with the last lines that it
 * wrote; that a given port is taken; the signal's reason
 */
export async function startDevServer(options: DevServerOptions = {}): Promise<DevServer> {
  const executable = await findTemporalCli(options);
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort(options.port);
    const uiPort = options.uiPort === undefined ? undefined : await freePort(options.uiPort);
    const child = spawnGuarded(executable, argumentsOf(options, port, uiPort), {
      env: withoutTemporal(options.env ?? process.env),
    });
    try {
      await untilServing(child, options, port);
      return {
        address: `127.0.0.1:${port}`,
        uiUrl: uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`,
        pid: child.pid ?? 0,
        stop: () => end(child),
        kill: () => child.signal("SIGKILL"),
      };
    } catch (error) {
      await end(child);
      options.signal?.throwIfAborted();
      const said = child.output();
      if (said.includes("address already in use") && attempt < PORT_ATTEMPTS) continue;
      const problem = `The Temporal dev server (${executable}) did not start: ${messageOf(error)}.`;
      throw new ServerError(said === "" ? problem : `${problem}\nIts last lines:\n${said}`, { cause: error });
    }
  }
}

function argumentsOf(options: DevServerOptions, port: number, uiPort: number | undefined): string[] {
  const { namespaces = ["default"], searchAttributes = [], dbFilename, dynamicConfig } = options;
  const config = Object.entries({ ...SERVER_CONFIG, ...dynamicConfig });
  return [
    "server",
    "start-dev",
    "--ip=127.0.0.1",
    `--port=${port}`,
    "--log-level=warn",
    uiPort === undefined ? "--headless" : `--ui-port=${uiPort}`,
    ...(dbFilename === undefined ? [] : [`--db-filename=${dbFilename}`]),
    ...namespaces.map((namespace) => `--namespace=${namespace}`),
    ...searchAttributes.map((name) => `--search-attribute=${name}=Keyword`),
    ...config.map(([key, value]) => `--dynamic-config-value=${key}=${JSON.stringify(value)}`),
  ];
}

/** Resolves when every namespace answers and every search attribute can be used in a query. */
async function untilServing(child: GuardedChild, options: DevServerOptions, port: number): Promise<void> {
  const { namespaces = ["default"], searchAttributes = [], startTimeoutMs = START_TIMEOUT_MS, signal } = options;
  const gone = new AbortController();
  void child.ended.then(({ description }) => gone.abort(new Error(`it ${description}`)));
  const stop = AbortSignal.any([gone.signal, ...(signal ? [signal] : [])]);
  const ready = readyWithin(startTimeoutMs, stop);
  const address = `127.0.0.1:${port}`;
  // A channel that meets a closed port would wait a whole second before it tries again.
  const channelArgs = { "grpc.initial_reconnect_backoff_ms": 50, "grpc.max_reconnect_backoff_ms": 50 };
  const connection = await ready(() => Connection.connect({ address, connectTimeout: CONNECT_MS, channelArgs }));
  const { workflowService } = connection;
  const query = searchAttributes.map((name) => `${name} = "-"`).join(" or ");
  try {
    for (const namespace of namespaces) {
      await ready(() =>
        connection.withDeadline(Date.now() + CALL_MS, async () => {
          await workflowService.describeNamespace({ namespace });
          if (query !== "") await workflowService.countWorkflowExecutions({ namespace, query });
        }),
      );
    }
  } finally {
    await connection.close();
  }
  // Ready may have been somebody else's server on a port that ours did not get.
  stop.throwIfAborted();
}

async function end(child: GuardedChild): Promise<void> {
  child.signal("SIGTERM");
  const tooLate = setTimeout(() => child.signal("SIGKILL"), STOP_GRACE_MS);
  await child.ended;
  clearTimeout(tooLate);
}

/** The CLI reads its own settings from TEMPORAL_*; those are meant for clients of another server. */
function withoutTemporal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("TEMPORAL_")));
}

/**
 * A port of loopback that nobody listens on at this moment; somebody else may take it before it is used.
 * @param port default: any @throws where somebody listens on the given one
 */
export function freePort(port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : port));
    });
  });
}
