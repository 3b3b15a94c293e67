import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Connection, isGrpcServiceError } from "@temporalio/client";

import { SEARCH_ATTRIBUTES } from "../../../src/contract/index.ts";
import { type DevServer, freePort, startDevServer } from "../../../src/servers/start-dev-server.ts";

const LOOK_EVERY_MS = 1_000;
const LOOK_WITHIN_MS = 3_000;
const LOOKS = 3;
/** What each statement of SQLite's driver gives once it is stuck (temporalio/temporal#9198): only a restart helps. */
const STUCK = "interrupted (9)";

/** A Temporal server on a database file: it can be killed, and comes back on the same port with all that it knew. */
export class TemporalServer {
  readonly address: string;
  readonly #port: number;
  readonly #folder: string;
  #server: DevServer | undefined;
  #up: Promise<void> = Promise.resolve();
  #kills = 0;

  private constructor(port: number, folder: string) {
    this.#port = port;
    this.#folder = folder;
    this.address = `127.0.0.1:${port}`;
  }

  static async start(folder: string): Promise<TemporalServer> {
    const server = new TemporalServer(await freePort(), folder);
    await server.#start();
    return server;
  }

  /** Resolves while, or as soon as, it runs. */
  up(): Promise<void> {
    return this.#up;
  }

  /** How often it was killed. */
  get kills(): number {
    return this.#kills;
  }

  get running(): boolean {
    return this.#server !== undefined;
  }

  async killAndRestart(away: () => Promise<void>): Promise<void> {
    this.#up = this.#up.then(() => this.#killThenStart(away));
    await this.#up;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.stop();
  }

  async #killThenStart(away: () => Promise<void>): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#kills += 1;
    server?.kill();
    // Waits for the end of the process, so that its port is free.
    await server?.stop();
    await away();
    await this.#start();
  }

  /** A server that is stuck is restarted, as its owner would: it would answer nobody any more. */
  async #watch(server: DevServer): Promise<void> {
    const connection = Connection.lazy({ address: this.address });
    let stuck = 0;
    while (this.#server === server && stuck < LOOKS) {
      await delay(LOOK_EVERY_MS, undefined, { ref: false });
      stuck = (await isStuck(connection)) ? stuck + 1 : 0;
    }
    await connection.close();
    if (this.#server !== server) return;
    process.stderr.write("Temporal's SQLite is stuck: Temporal is restarted.\n");
    await this.killAndRestart(async () => {});
  }

  async #start(): Promise<void> {
    const server = await startDevServer({
      port: this.#port,
      searchAttributes: Object.values(SEARCH_ATTRIBUTES),
      dbFilename: join(this.#folder, "temporal.db"),
      // A drain waits until the server ends the poll of an idle queue, which takes a minute otherwise.
      dynamicConfig: { "matching.longPollExpirationInterval": "2s" },
    });
    this.#server = server;
    // One that does not start again is told by the next who waits for it.
    void this.#watch(server).catch(() => undefined);
  }
}

async function isStuck(connection: Connection): Promise<boolean> {
  try {
    const ask = () => connection.workflowService.describeNamespace({ namespace: "default" });
    await connection.withDeadline(Date.now() + LOOK_WITHIN_MS, ask);
    return false;
  } catch (error) {
    return isGrpcServiceError(error) && error.details.includes(STUCK);
  }
}
