import { join } from "node:path";

import { SEARCH_ATTRIBUTES } from "../../../src/contract/index.ts";
import { type DevServer, freePort, startDevServer } from "../../../src/servers/start-dev-server.ts";

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
    const restarted = this.#killThenStart(away);
    this.#up = restarted;
    await restarted;
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
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

  async #start(): Promise<void> {
    this.#server = await startDevServer({
      port: this.#port,
      searchAttributes: Object.values(SEARCH_ATTRIBUTES),
      dbFilename: join(this.#folder, "temporal.db"),
      // A drain waits until the server ends the poll of an idle queue, which takes a minute otherwise.
      dynamicConfig: { "matching.longPollExpirationInterval": "2s" },
    });
  }
}
