import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, Connection, type DataConverter } from "@temporalio/client";

import { freePort } from "../../../src/servers/start-dev-server.ts";
import { type Simulator, startSimulator } from "../../../src/dev/simulator/index.ts";
import { createStarter, type Starter } from "../../../src/starter/index.ts";
import { dataConverterOf } from "../../../src/payloads/index.ts";
import { CUSTOMER_WORDS } from "../plan/sale-plan.ts";
import { scenario } from "../plan/world.ts";
import { CallsUnderWay, Gate, type GateOptions } from "./gate.ts";
import { ProductProcess } from "./product-process.ts";
import { KeptProcess } from "./kept-process.ts";
import { startPooledLedger } from "./pooled-ledger.ts";
import { allSecrets, commonEnvironment, newSecrets, type Secrets, writeWorkerConfig } from "./settings.ts";
import { TemporalServer } from "./temporal-server.ts";

export const BUILT_MAIN = fileURLToPath(new URL("../../../dist/src/main.js", import.meta.url));

export interface FaultStackOptions {
  readonly seed: number;
  readonly workers: number;
  /** Of the built product; default: this checkout's. */
  readonly main?: string;
  readonly keep?: boolean;
  /** Whether the workers reach their ledger through it. */
  readonly pgbouncer?: boolean;
  /** A database with its tables; default: that of the workers' home. */
  readonly ledgerUrl?: string;
  /** Whether payloads are encrypted. */
  readonly encrypted?: boolean;
  readonly onBoundary?: GateOptions["onBoundary"];
  readonly onConnection?: GateOptions["onConnection"];
}

/** The built product in processes of its own, around a simulator in this one, which survives and holds the truth. */
export interface FaultStack {
  readonly folder: string;
  /** Of all product processes: the database of the claims is under it. */
  readonly home: string;
  /** Undefined: the one in the home. */
  readonly ledgerUrl: string | undefined;
  readonly simulator: Simulator;
  readonly temporal: TemporalServer;
  readonly client: Client;
  readonly dataConverter: DataConverter;
  readonly starter: Starter;
  readonly workers: readonly KeptProcess[];
  readonly receiver: KeptProcess;
  readonly receiverUrl: string;
  readonly secrets: Secrets;
  /** What nobody may read in Temporal or in a log. */
  readonly hidden: readonly string[];
  readonly underWay: CallsUnderWay;
  /** What processes said last that ended while they served, without having been told to. */
  endedByThemselves(): readonly string[];
  /** As a power cut would, all workers end, and others begin once the work is done. */
  withoutWorkers(work: () => Promise<void>): Promise<void>;
  /** Of all processes. */
  readonly metricsUrls: readonly string[];
  /** All processes: so that nothing is written any more to what is looked at. */
  stopProcesses(): Promise<void>;
  /** @param keep what all processes have written, also where that was not asked for at first */
  close(keep?: boolean): Promise<void>;
}

/**
 * Below those that a system gives to a process that asks for any: a process that is killed finds its own free again.
 */
const FIRST_METRICS_PORT = 20_000;

/** One for each process. */
async function freeMetricsPorts(processes: number): Promise<number[]> {
  const first = FIRST_METRICS_PORT + (process.pid % 1_000) * 10;
  return await Promise.all(Array.from({ length: processes }, (_, seat) => freePort(first + seat)));
}

export async function startFaultStack(options: FaultStackOptions): Promise<FaultStack> {
  const {
    seed,
    workers: seats,
    main = BUILT_MAIN,
    encrypted = false,
    onBoundary = () => "go-on",
    onConnection = () => undefined,
  } = options;
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-faults-"));
  // The ledger's database runs as somebody else where this runs as root.
  await chmod(folder, 0o755);
  const secrets = newSecrets();
  const simulator = await startSimulator({
    seed,
    scenario: scenario(secrets.keys),
    limitPerWindow: 1_000_000,
    // An answer at once would leave no moment between two boundaries.
    latencyMs: 15,
    dialect: {},
    callbackRetryDelaysMs: [500, 1_500],
  });
  const temporal = await TemporalServer.start(folder);
  const connection = await Connection.connect({ address: temporal.address });
  const dataConverter = dataConverterOf(encrypted ? secrets.payloads.map((key) => ({ reveal: () => key })) : []);
  const client = new Client({ connection, dataConverter });
  let starts = 0;
  /** The first key encrypts, and all decrypt: with each start of a process the other one is the first. */
  const withKeys = (env: Record<string, string>): Record<string, string> => {
    const [one, other] = secrets.payloads;
    starts += 1;
    return encrypted
      ? { ...env, FISCALFLOW_PAYLOAD_KEYS: starts % 2 === 0 ? `${one},${other}` : `${other},${one}` }
      : env;
  };
  const metricsPorts = await freeMetricsPorts(seats + 1);
  const withMetrics = (seat: number): Record<string, string> => ({ METRICS_PORT: String(metricsPorts[seat]) });
  const receiverPort = await freePort();
  const common = commonEnvironment({ folder, temporalAddress: temporal.address, receiverPort, secrets });
  const home = common["FISCALFLOW_HOME"] ?? "";
  const pooled = options.pgbouncer ? await startPooledLedger(home) : undefined;
  const addressed = pooled?.url ?? options.ledgerUrl;
  if (addressed) common["LEDGER_URL"] = addressed;
  const endedByThemselves: string[] = [];
  let workersMayBegin = Promise.resolve();
  const shared = {
    serverUp: async () => {
      // While one of the two is waited for, the other one may go.
      for (let held: Promise<void> | undefined; held !== workersMayBegin;) {
        held = workersMayBegin;
        await held;
        await temporal.up();
      }
    },
    serverKills: () => temporal.kills,
    onEndedByItself: (lastWords: string) => void endedByThemselves.push(lastWords),
  };
  const underWay = new CallsUnderWay();
  const gates: Gate[] = [];
  const workers: KeptProcess[] = [];
  for (let seat = 0; seat < seats; seat += 1) {
    const gate = await Gate.open(seat, { upstream: simulator.url, onBoundary, onConnection }, underWay);
    gates.push(gate);
    const env = { ...common, ...withMetrics(seat), FISCALFLOW_CONFIG: await writeWorkerConfig(folder, seat, gate.url) };
    const logPath = join(folder, `worker-${seat}.log`);
    const spawn = (): ProductProcess =>
      new ProductProcess({ main, command: "worker", env: withKeys(env), logPath, readyMessage: "serving" });
    workers.push(new KeptProcess({ ...shared, spawn }));
  }
  const receiver = new KeptProcess({
    ...shared,
    spawn: () =>
      new ProductProcess({
        main,
        command: "callbacks",
        env: withKeys({ ...common, ...withMetrics(seats) }),
        logPath: join(folder, "callbacks.log"),
        readyMessage: "receiving",
      }),
  });
  const stopProcesses = async (): Promise<void> => {
    await Promise.all([...workers, receiver].map((seat) => seat.close("SIGKILL")));
  };
  return {
    folder,
    home,
    ledgerUrl: options.ledgerUrl,
    simulator,
    temporal,
    client,
    dataConverter,
    starter: createStarter({ client, businesses: { unkeyed: "biz_4" }, identity: "fault suite" }),
    workers,
    receiver,
    receiverUrl: `http://127.0.0.1:${receiverPort}`,
    secrets,
    hidden: [...allSecrets(secrets), ...(encrypted ? CUSTOMER_WORDS : [])],
    underWay,
    metricsUrls: metricsPorts.map((port) => `http://127.0.0.1:${port}/metrics`),
    endedByThemselves: () => endedByThemselves,
    async withoutWorkers(work) {
      let begin: () => void = () => undefined;
      workersMayBegin = new Promise((resolve) => (begin = resolve));
      try {
        for (const worker of workers) worker.kill();
        await Promise.all(workers.map(({ gone }) => gone));
        await work();
      } finally {
        begin();
      }
    },
    stopProcesses,
    async close(keep = options.keep) {
      await stopProcesses();
      await pooled?.close();
      await connection.close();
      await temporal.stop();
      await Promise.all(gates.map((gate) => gate.close()));
      await simulator.close();
      if (keep) process.stderr.write(`kept: ${folder}\n`);
      else await rm(folder, { recursive: true, force: true });
    },
  };
}
