import { ProductProcess } from "../faults/stack/product-process.ts";
import { addressOf, type CuttableLine, startCuttableLine } from "./cuttable-line.ts";
import { listenerOf, throughPort } from "./fresh-database.ts";
import { unpacked } from "./unpacked.ts";

/** Another worker finds some of what the one before had begun after half a minute. */
const STEP_WITHIN_MS = 120_000;

/** The power goes at one step of the worker. */
export interface Kill {
  /** Where the worker's word of that step goes. */
  to: "api" | "ledger" | "temporal";
  /** Whether this is the word of that step. */
  is: (text: string) => boolean;
  /**
   * - `lost`: the word gets nowhere
   * - `arrived`: it does, and its answer finds nobody
   * - `committed`: of a statement of the ledger: its transaction is committed, and nobody learns of it
   */
  how: "lost" | "arrived" | "committed";
}

interface Options {
  /** Of the built product. */
  main: string;
  logPath: string;
  env: Record<string, string>;
  /** The addresses to which the lines lead. */
  api: string;
  temporal: string;
  ledger: string;
}

type Lines = Record<Kill["to"], CuttableLine>;

/** One worker process of the product after the other, whose every word goes over a line that can kill it. */
export class KillingLines {
  #process: ProductProcess | undefined;
  #armed: (Kill & { struck: () => void }) | undefined;
  /** The connection whose transaction is to be committed before the kill. */
  #awaited: object | undefined;
  #lines: Lines | undefined;
  readonly #options: Options;

  private constructor(options: Options) {
    this.#options = options;
  }

  static async open(options: Options): Promise<KillingLines> {
    const { api, temporal, ledger } = options;
    const own = new KillingLines(options);
    const lineTo = (to: Kill["to"], target: Parameters<typeof startCuttableLine>[0]) =>
      startCuttableLine(target, (bytes, from) => own.#onSent(to, bytes, from));
    own.#lines = {
      api: await lineTo("api", addressOf(new URL(api).host)),
      temporal: await lineTo("temporal", addressOf(temporal)),
      ledger: await lineTo("ledger", listenerOf(ledger)),
    };
    return own;
  }

  /** A worker serves. */
  async serving(): Promise<void> {
    if (!this.#process) {
      const { main, logPath, env, ledger } = this.#options;
      const { api, temporal, ledger: toLedger } = this.#wholeLines();
      this.#process = new ProductProcess({
        main,
        command: "worker",
        logPath,
        readyMessage: "serving",
        env: {
          ...env,
          COMPLIANCE_BASE_URL: `http://127.0.0.1:${api.port}`,
          TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
          LEDGER_URL: throughPort(ledger, toLedger.port),
        },
      });
    }
    if (!(await this.#process.ready))
      throw new Error(`the worker ended before it served: see ${this.#options.logPath}`);
  }

  /** Kills the worker at this step, once. Resolves when it is gone. */
  async killAt(kill: Kill): Promise<void> {
    const victim = this.#process;
    if (!victim) throw new Error("no worker serves");
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("the step did not come")), STEP_WITHIN_MS);
      const struck = (): void => {
        clearTimeout(late);
        resolve();
      };
      this.#armed = { ...kill, struck };
    });
    await victim.ended;
    this.#process = undefined;
  }

  async close(): Promise<void> {
    this.#process?.signal("SIGKILL");
    await this.#process?.ended;
    for (const line of Object.values(this.#lines ?? {})) await line.close();
  }

  #wholeLines(): Lines {
    if (!this.#lines) throw new Error("the lines are not open");
    for (const line of Object.values(this.#lines)) line.restore();
    return this.#lines;
  }

  #onSent(to: Kill["to"], bytes: Buffer, from: object): void {
    const armed = this.#armed;
    if (!armed || armed.to !== to) return;
    const text = to === "temporal" ? unpacked(bytes) : bytes.toString("latin1");
    if (this.#awaited) {
      if (this.#awaited !== from || !text.includes("commit")) return;
    } else {
      if (!armed.is(text)) return;
      if (armed.how === "committed") {
        this.#awaited = from;
        return;
      }
    }
    this.#process?.signal("SIGKILL");
    if (armed.how === "lost") this.#lines?.[to].cut();
    this.#armed = undefined;
    this.#awaited = undefined;
    armed.struck();
  }
}
