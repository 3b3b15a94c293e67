import { inject, expect } from "vitest";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";

import { HISTORY_CHANNEL_ARGS } from "../../src/cli/connect-temporal.ts";
import { createCallbackReceiver, createTemporalSignaller } from "../../src/callbacks/index.ts";
import { type Config, loadConfig, type Timings } from "../../src/config/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { dataConverterOf } from "../../src/payloads/index.ts";
import { startSimulator, type Simulator, type SimulatorOptions } from "../../src/dev/simulator/index.ts";
import { createStarter, NoAnswerError, type Starter } from "../../src/starter/index.ts";
import { createWorkers } from "../../src/worker/create-workers.ts";
import { ledgerOf } from "../../src/worker/ledger-of-config.ts";
import { RunningWorkers } from "../../src/worker/run-worker-process.ts";
import { setTimeout as nextTick } from "node:timers/promises";
import type { WorkflowState } from "../../src/contract/index.ts";
import { freshDatabase } from "./fresh-database.ts";
import { namespaceOf } from "./namespace.ts";
import { LOOK_PAUSE_MS, PATIENCE_MS } from "./patience.ts";
import "./quiet-runtime.ts";
import { recordAll, replayAll } from "./replay-all.ts";

/** Short enough that no test waits for the clock, in the proportions of the real ones. */
const TEST_TIMINGS: Partial<Timings> = {
  callTimeoutMs: 5_000,
  resubmissions: 3,
  resubmissionWindowMs: 600,
  firstPollMs: 100,
  firstPollWithCallbackMs: 20_000,
  longestPollMs: 500,
  longestPollAfterDayMs: 500,
  slowAfterMs: 3_600_000,
  failingPauseMs: 20,
};

/**
 * Jitter for different orders, and not to wait for: without it a third attempt comes 5 seconds after the first, on
 * average.
 */
const shortJitter = (): number => Math.random() / 10;

const SILENT = { debug() {}, warn() {} };
const CALLBACK_SECRET = "a secret of the tests that is long enough to be one";

export interface RigOptions {
  /** Of a Temporal server that has the namespace of the suite; default: the one of all suites. */
  address?: string;
  simulator?: SimulatorOptions;
  timings?: Partial<Timings>;
  /** Without a receiver nothing calls back; polling finishes every document. */
  receiver?: boolean;
  /** Serve the simulator's accounting service too, as connection `default`; its requests are signed. */
  accounting?: boolean;
  env?: Record<string, string>;
  /** From 0 to 1: how much of its longest jitter a pause gets; default: a short one, at random. */
  jitter?: () => number;
  /** For one operation of the workers' ledger; default: as in the product. */
  ledgerTimeoutMs?: number;
  /** Without workers of this process, others serve; default: with. */
  workers?: boolean;
  /** What the workers use in place of the ledger, for a defect behind a call. */
  withLedger?: (ledger: Ledger) => Ledger;
}

export interface Rig {
  simulator: Simulator;
  client: Client;
  starter: Starter;
  config: Config;
  namespace: string;
  address: string;
  /** What the workers have logged of their keys, in order. */
  logged: LoggedLine[];
  /** What the workers have written, read over a connection of its own. */
  readonly ledger: Ledger;
  /** Every call of the simulator's API that this sale made, by operation: `createSale`, `adjustStock`, … */
  callsOf(invoice: string): string[];
  /** The state, once it is as wanted: asked again on each change of the simulator, and bounded. */
  stateWhen(invoice: string, wanted: (state: WorkflowState) => boolean): Promise<WorkflowState>;
  /** As SIGTERM does. */
  stopWorkers(): Promise<void>;
  startWorkers(): Promise<void>;
  /** Ends everything, and replays each history of the suite against the workflows as they are. */
  close(): Promise<void>;
}

interface LoggedLine {
  level: "warn" | "info";
  message: string;
  fields: Record<string, unknown>;
}

/** The product as it runs, over HTTP and on a real Temporal server: simulator, receiver, workers, starter. */
export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const compileProblem = inject("compileProblem");
  if (compileProblem !== undefined) throw new Error(compileProblem);
  const address = options.address ?? inject("temporalAddress");
  if (address === undefined)
    throw new Error("suites that need a Temporal server are skipped by `describeWithTemporal`");
  const namespace = namespaceOf(expect.getState().testPath ?? "");
  const simulator = await startSimulator({ limitPerWindow: 100_000, ...options.simulator });
  const connection = await Connection.connect({ address, channelArgs: HISTORY_CHANNEL_ARGS });
  const { FISCALFLOW_PAYLOAD_KEYS } = { ...options.env };
  const dataConverter = dataConverterOf(loadConfig({ env: { FISCALFLOW_PAYLOAD_KEYS } }).payloadKeys);
  const client = new Client({ connection, namespace, dataConverter });
  const receiver = createCallbackReceiver({
    secrets: [CALLBACK_SECRET],
    client: createTemporalSignaller(client),
    log: SILENT,
  });
  const receiverUrl = await receiver.listen({ host: "127.0.0.1", port: 0 });
  const callbacks: Record<string, string> =
    options.receiver === false
      ? {}
      : { CALLBACK_PUBLIC_URL: receiverUrl, CALLBACK_SECRETS: CALLBACK_SECRET, CALLBACK_ALLOW_LOOPBACK: "1" };
  const loaded = loadConfig({
    env: {
      COMPLIANCE_BASE_URL: simulator.url,
      COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      ...callbacks,
      ...(options.accounting === true && {
        ACCOUNTING_BASE_URL: simulator.accounting.url,
        ACCOUNTING_API_KEY: "sk_development_simulator",
        ACCOUNTING_CLIENT_SECRET: "cs_simulator",
      }),
      LEDGER_URL: await freshDatabase(inject("ledgerServerUrl")),
      ...options.env,
    },
    needs: ["compliance"],
  });
  const config = { ...loaded, timings: { ...loaded.timings, ...TEST_TIMINGS, ...options.timings } };

  const native = await NativeConnection.connect({ address });
  const workflowBundle = { codePath: inject("workflowBundlePath") };
  const logged: LoggedLine[] = [];
  const logAt =
    (level: LoggedLine["level"]) =>
    (message: string, fields: Record<string, unknown>): void => {
      // What is logged of an application is of no connection's key.
      if ("connection" in fields) logged.push({ level, message, fields });
    };
  const log = { warn: logAt("warn"), info: logAt("info") };
  let running: RunningWorkers | undefined;
  let closeTransport: (() => Promise<void>) | undefined;
  let ledger: Ledger | undefined;
  let reading: Ledger | undefined;

  const rig: Rig = {
    simulator,
    client,
    starter: createStarter({ client, businesses: { default: "biz_1" } }),
    config,
    namespace,
    address,
    logged,
    get ledger() {
      reading ??= ledgerOf(config);
      return reading;
    },
    callsOf(invoice) {
      const own = simulator.documents(invoice).map(({ id }) => id);
      const mine = simulator
        .calls()
        .filter(
          (call) =>
            call.invoice === invoice || own.includes(call.saleId ?? "") || call.referenceId?.startsWith(`${invoice}/`),
        );
      return mine.map(({ operation }) => operation);
    },
    async stateWhen(invoice, wanted) {
      const deadlineMs = Date.now() + PATIENCE_MS;
      for (;;) {
        const state = await rig.starter.getSale({ invoice }).catch((error: unknown) => {
          if (error instanceof NoAnswerError && Date.now() < deadlineMs) return undefined;
          throw error;
        });
        if (state && wanted(state)) return state;
        if (Date.now() > deadlineMs) throw new Error(`${invoice} is ${JSON.stringify(state, null, 2)}`);
        await nextTick(LOOK_PAUSE_MS);
      }
    },
    async startWorkers() {
      ledger = ledgerOf(config, undefined, { operationTimeoutMs: options.ledgerTimeoutMs });
      // As the worker process does: one that is away holds nothing back.
      await ledger.ready().catch(() => undefined);
      const serving = await createWorkers({
        config,
        connection: native,
        client,
        ledger: options.withLedger?.(ledger) ?? ledger,
        namespace,
        workflowBundle,
        log,
        random: options.jitter ?? shortJitter,
      });
      closeTransport = serving.close;
      running = new RunningWorkers(serving.workers, serving);
    },
    async stopWorkers() {
      await running?.drain();
      await closeTransport?.();
      await ledger?.close();
      running = undefined;
      closeTransport = undefined;
    },
    async close() {
      await reading?.close();
      // Nothing is at stake any more: an idle poll is not waited for.
      await running?.stop();
      await closeTransport?.();
      await ledger?.close();
      await receiver.close();
      await simulator.close();
      const encrypts = config.payloadKeys.length > 0;
      await replayAll(client, workflowBundle, encrypts ? dataConverter : undefined);
      const record = process.env["RECORD_HISTORIES"];
      if (record && !encrypts) await recordAll(client, record);
      await native.close();
      await connection.close();
    },
  };
  if (options.workers !== false) await rig.startWorkers();
  return rig;
}
