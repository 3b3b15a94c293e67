import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";

import { type DevServerOptions, startDevServer } from "../../src/servers/start-dev-server.ts";
import { startEmbeddedPostgres } from "../../src/servers/test-support/start-embedded-postgres.ts";
import { SEARCH_ATTRIBUTES } from "../../src/contract/index.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../src/dev/simulator/index.ts";

export interface BenchStack {
  /** Of this run alone; removed with the stack. */
  readonly folder: string;
  readonly simulator: Simulator;
  readonly temporalAddress: string;
  readonly temporalPid: number;
  readonly client: Client;
  /** A PostgreSQL server, which the product's processes find by themselves too. */
  readonly ledgerUrl: string;
  /** For processes of the product. */
  readonly env: Readonly<Record<string, string>>;
  /** Run in the opposite order when the stack closes. */
  onClose(end: () => Promise<unknown>): void;
  close(): Promise<void>;
}

const FOLDER = "fiscalflow-bench-";

/** In the host's memory where it can be: Temporal's database on a disk would measure the disk. */
async function temporalFolder(): Promise<string> {
  return await mkdtemp(join("/dev/shm", FOLDER)).catch(() => mkdtemp(join(tmpdir(), FOLDER)));
}

/**
 * A simulator in this process, a Temporal server and a ledger: what the product's processes need around them.
 * @param dynamicConfig of the Temporal server, beside what it has already
 */
export async function startStack(
  options: SimulatorOptions,
  dynamicConfig: DevServerOptions["dynamicConfig"] = {},
): Promise<BenchStack> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (let end = ends.pop(); end; end = ends.pop()) await end();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), FOLDER));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    // The ledger's database runs as somebody else where this runs as root.
    await chmod(folder, 0o755);
    const home = join(folder, "home");
    const ledger = await startEmbeddedPostgres({ home });
    ends.push(() => ledger.close());
    const simulator = await startSimulator(options);
    ends.push(() => simulator.close());
    const databaseFolder = await temporalFolder();
    ends.push(() => rm(databaseFolder, { recursive: true, force: true }));
    const temporal = await startDevServer({
      searchAttributes: Object.values(SEARCH_ATTRIBUTES),
      dynamicConfig,
      // In memory it was lost after half an hour under load, it seems with the server's one connection to it.
      dbFilename: join(databaseFolder, "temporal.db"),
    });
    ends.push(() => temporal.stop());
    const connection = await Connection.connect({ address: temporal.address });
    ends.push(() => connection.close());
    return {
      folder,
      simulator,
      temporalAddress: temporal.address,
      temporalPid: temporal.pid,
      client: new Client({ connection }),
      ledgerUrl: ledger.ownerUrl,
      env: { TEMPORAL_ADDRESS: temporal.address, FISCALFLOW_HOME: home, LOG_LEVEL: "info" },
      onClose: (end) => void ends.push(end),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
