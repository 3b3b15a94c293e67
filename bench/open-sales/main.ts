import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";

import { SEARCH_ATTRIBUTES, type Stage } from "../../src/contract/index.ts";
import { freePort } from "../../src/servers/start-dev-server.ts";
import { createStarter } from "../../src/starter/index.ts";
import { ProductProcess } from "../../test/faults/stack/product-process.ts";
import { cpuMsOf, residentMbOf } from "../stack/process-figures.ts";
import { BUILT_MAIN, ProductFleet } from "../stack/product-fleet.ts";
import { say } from "../stack/progress.ts";
import { installQuietRuntime } from "../stack/quiet-runtime.ts";
import { type BenchStack, startStack } from "../stack/start-stack.ts";
import { table } from "../stack/table.ts";
import { writeFigures } from "../stack/write-figures.ts";
import { beyondLimits, exponent, type Figures, recoveryMs } from "./limits.ts";
import { plot } from "./plot.ts";
import { KeyFiles, scenarioOf, type Shop, shopsOf } from "../tenants/shops.ts";

/**
 * `npm run bench:scale`: sales that wait for the authority, over 50 keys, by their number: what they take of a worker
 * while they wait, how soon a worker serves that starts with all of them open, and how long each takes once the
 * authority has answered all at once. Figures are of one run each; growth is an exponent of their number. Ends with 1
 * where a figure is beyond its limit.
 */
const USAGE = `npm run bench:scale -- [--sales 1000,10000,50000] [--shops n] [--at-once n] [--seconds n]
                [--poll-after n] [--out folder]
  --sales    how many are open, one size after the other, each with servers of its own; default 1000,10000
  --shops    connections, each with a business, a key and a budget of its own; default 50
  --at-once  sales that are started side by side; default 60
  --seconds  for which the open sales are watched; default 60
  --poll-after
             seconds until a sale is read that nobody has called back; default 14400, as often as one is read that has
             been open for days. 600 is what one of an hour has, and more than two cores bear of 50,000`;

interface Options {
  readonly sales: readonly number[];
  readonly shops: number;
  readonly atOnce: number;
  readonly seconds: number;
  readonly pollAfter: number;
  readonly outFolder: string;
}

const SECRET = "bench-secret-that-is-long-enough-to-be-one";
const LOOK_MS = 500;
const PAUSES_PER_LOOK = 30;
const TELL_MS = 60_000;
const SETTLE_MS = 20_000;
/** The first one may have to read its files from the disk: the middle one counts. */
const STARTS = 3;
const TILL_LOOK_MS = 100;
const TILL_PAUSE_MS = 2_000;
/**
 * With fairness, server 1.29.1 hands out no workflow tasks any more after thousands have timed out at once. The dev
 * server cannot be told to be fair to activities alone, as `deploy/temporal/dynamicconfig.yaml` does.
 */
const UNFAIR = { "matching.enableFairness": false };
/** An authority answers all at once, and a receiver takes some: the service comes again with the rest. */
const DELIVERED_AGAIN_AFTER_MS = [1_000, 5_000, ...Array<number>(240).fill(30_000)];

/** Open sales of one size, from the first to the last. */
class OpenSales {
  readonly #stack: BenchStack;
  readonly #shops: readonly Shop[];
  readonly #env: Record<string, string>;
  readonly #keys: KeyFiles;
  readonly #starter: ReturnType<typeof createStarter>;
  #fleet: ProductFleet | undefined;
  #toldMs = 0;

  private constructor(stack: BenchStack, shops: readonly Shop[], keys: KeyFiles, env: Record<string, string>) {
    this.#stack = stack;
    this.#shops = shops;
    this.#keys = keys;
    this.#env = env;
    const businesses = Object.fromEntries(shops.map(({ name, businessId }) => [name, businessId]));
    this.#starter = createStarter({ client: stack.client, businesses, identity: "bench" });
  }

  static async begin(stack: BenchStack, shops: readonly Shop[], pollAfter: number): Promise<OpenSales> {
    const port = await freePort();
    const env = {
      CALLBACK_PUBLIC_URL: `http://127.0.0.1:${port}`,
      CALLBACK_PORT: String(port),
      CALLBACK_SECRETS: SECRET,
      CALLBACK_ALLOW_LOOPBACK: "1",
      FISCALFLOW_TIMING_FIRST_POLL_WITH_CALLBACK_MS: String(pollAfter * 1_000),
    };
    const receiver = new ProductProcess({
      main: BUILT_MAIN,
      command: "callbacks",
      env: { ...stack.env, ...env },
      logPath: join(stack.folder, "receiver.log"),
      readyMessage: "receiving",
    });
    stack.onClose(async () => {
      receiver.signal("SIGKILL");
      await receiver.ended;
    });
    if (!(await receiver.ready)) throw new Error(`the receiver ended: ${receiver.lastWords}`);
    const open = new OpenSales(stack, shops, await KeyFiles.write(stack, shops), env);
    stack.onClose(async () => await open.#fleet?.stop());
    return open;
  }

  /** @returns after how many seconds it serves */
  async serve(): Promise<number> {
    await this.#fleet?.stop();
    const beganMs = performance.now();
    const connections = this.#shops.map((shop) => this.#keys.connectionOf(shop));
    const { folder, simulator, env } = this.#stack;
    const options = { folder, processes: 1, serviceUrl: simulator.url, connections, env: { ...env, ...this.#env } };
    this.#fleet = await ProductFleet.start(options, (error) => say(error.message));
    return secondsSince(beganMs);
  }

  get pid(): number {
    return this.#fleet?.pids[0] ?? 0;
  }

  async #sell({ name, itemId }: Shop, traderInvoiceNumber: string): Promise<void> {
    const lines = [{ itemId, quantity: 1, unitPrice: 350 }];
    await this.#starter.startSale({ connection: name, traderInvoiceNumber, lines, refundWindow: "0" });
  }

  /** One sale after the other, until the signal. @returns the longest that one took to become a document, in seconds */
  async sellMeanwhile(signal: AbortSignal): Promise<number> {
    let longest = 0;
    for (let n = 1; !signal.aborted; n += 1) {
      const shop = this.#shops[n % this.#shops.length];
      if (!shop) break;
      const beganMs = performance.now();
      await this.#sell(shop, `NEW-${n}`);
      while (!signal.aborted && this.#stack.simulator.documents(`NEW-${n}`).length === 0) await delay(TILL_LOOK_MS);
      longest = Math.max(longest, secondsSince(beganMs));
      await delay(TILL_PAUSE_MS);
    }
    return longest;
  }

  async start(count: number, atOnce: number): Promise<void> {
    let next = 0;
    const till = async (): Promise<void> => {
      while (next < count) {
        const n = (next += 1);
        const shop = this.#shops[n % this.#shops.length];
        if (!shop) return;
        await this.#sell(shop, `OPEN-${n}`);
        // As many as the worker has opened, and some on their way: nobody starts all of a day's sales in a minute.
        while (n - this.#created() > 4 * atOnce) await delay(LOOK_MS);
        this.#tell(`${n} of ${count} are started`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, till));
    await this.until(async () => {
      const waiting = await this.#countAt("awaiting-authority");
      this.#tell(`${waiting} of ${count} wait`);
      return waiting === count;
    });
  }

  /** Once a minute. */
  #tell(what: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#toldMs < TELL_MS) return;
    this.#toldMs = nowMs;
    say(what);
  }

  #created(): number {
    return this.#stack.simulator.callCount("createSale");
  }

  async #countAt(stage: Stage): Promise<number> {
    const query = `ExecutionStatus = "Running" AND ${SEARCH_ATTRIBUTES.stage} = "${stage}"`;
    return (await this.#stack.client.workflow.count(query)).count;
  }

  /** To count 50,000 workflows takes the server a third of a second: looking must not be what is measured. */
  async until(holds: () => Promise<boolean>): Promise<void> {
    for (;;) {
      const lookedMs = performance.now();
      if (await holds()) return;
      await delay(Math.max(LOOK_MS, PAUSES_PER_LOOK * (performance.now() - lookedMs)));
    }
  }

  /** All but those that tills begin meanwhile. */
  async allEnded(): Promise<void> {
    const query = `ExecutionStatus = "Running" AND ${SEARCH_ATTRIBUTES.invoice} STARTS_WITH "OPEN-"`;
    await this.until(async () => {
      // A server that has all hands full may fail to count once in half an hour.
      const counted = await this.#stack.client.workflow.count(query).catch((error: Error) => say(error.message));
      if (counted) this.#tell(`${counted.count} are open`);
      return counted?.count === 0;
    });
  }
}

function secondsSince(beganMs: number): number {
  return (performance.now() - beganMs) / 1_000;
}

/** Of both processes, from now until it is asked. */
async function watched(pids: { worker: number; temporal: number }) {
  const read = async () => ({ worker: await cpuMsOf(pids.worker), temporal: await cpuMsOf(pids.temporal) });
  const before = await read();
  const beganMs = performance.now();
  return async () => {
    const after = await read();
    const seconds = secondsSince(beganMs);
    return { worker: (after.worker - before.worker) / seconds, temporal: (after.temporal - before.temporal) / seconds };
  };
}

/** Until the signal. */
async function largestMbOf(pid: number, signal: AbortSignal): Promise<number> {
  let largest = 0;
  for (; !signal.aborted; await delay(LOOK_MS)) largest = Math.max(largest, await residentMbOf(pid));
  return largest;
}

async function figuresOf(sales: number, options: Options): Promise<Figures> {
  const shops = shopsOf(options.shops);
  const stack = await startStack(
    { scenario: scenarioOf(shops), callbackRetryDelaysMs: DELIVERED_AGAIN_AFTER_MS },
    UNFAIR,
  );
  try {
    const { simulator, temporalPid } = stack;
    const open = await OpenSales.begin(stack, shops, options.pollAfter);
    await open.serve();
    // It takes each document, and answers none.
    simulator.setDefaultAuthority({ do: "down" });
    say(`${sales} sales: opening them`);
    const openingMs = performance.now();
    await open.start(sales, options.atOnce);
    const openingSeconds = secondsSince(openingMs);

    say(`${sales} sales: they wait`);
    await delay(SETTLE_MS);
    const polls = simulator.callCount("readSale");
    const cpu = await watched({ worker: open.pid, temporal: temporalPid });
    await delay(options.seconds * 1_000);
    const { worker, temporal } = await cpu();
    const pollsPerSecond = (simulator.callCount("readSale") - polls) / options.seconds;
    const [workerMb, temporalMb] = [await residentMbOf(open.pid), await residentMbOf(temporalPid)];

    say(`${sales} sales: opened in ${openingSeconds.toFixed(0)} s, worker ${workerMb} MB; a cold restart`);
    const starts: number[] = [];
    for (let start = 0; start < STARTS; start += 1) starts.push(await open.serve());
    const readySeconds = starts.toSorted((a, b) => a - b)[Math.floor(STARTS / 2)] ?? 0;
    await delay(SETTLE_MS);
    const restartedMb = await residentMbOf(open.pid);

    say(`${sales} sales: ready in ${readySeconds.toFixed(1)} s, ${restartedMb} MB; the authority answers all of them`);
    const recovered = new AbortController();
    const recoveryCpu = await watched({ worker: open.pid, temporal: temporalPid });
    const watching = largestMbOf(open.pid, recovered.signal);
    const recoveringMs = performance.now();
    simulator.setDefaultAuthority({ do: "accept" });
    const selling = open.sellMeanwhile(recovered.signal);
    const ended = open.allEnded().finally(() => recovered.abort());
    const [recoverySeconds, tillSeconds, largestMb] = await Promise.all([
      ended.then(() => secondsSince(recoveringMs)),
      selling,
      watching,
    ]);
    const perSecond = await recoveryCpu();
    return {
      sales,
      openingSeconds,
      workerMb,
      workerCpuMsPerSecond: worker,
      temporalCpuMsPerSecond: temporal,
      temporalMb,
      pollsPerSecond,
      readySeconds,
      restartedMb,
      recoverySeconds,
      recoveryCpuMs: ((perSecond.worker + perSecond.temporal) * recoverySeconds) / sales,
      largestMb,
      tillSeconds,
    };
  } finally {
    await stack.close();
  }
}

const COLUMNS: readonly [head: string, figure: (one: Figures) => number, digits: number][] = [
  ["opened in s", (one) => one.openingSeconds, 0],
  ["worker MB", (one) => one.workerMb, 0],
  ["worker ms/s", (one) => one.workerCpuMsPerSecond, 0],
  ["Temporal ms/s", (one) => one.temporalCpuMsPerSecond, 0],
  ["Temporal MB", (one) => one.temporalMb, 0],
  ["polls/s", (one) => one.pollsPerSecond, 1],
  ["ready in s", (one) => one.readySeconds, 1],
  ["MB after it", (one) => one.restartedMb, 0],
  ["recovered in s", (one) => one.recoverySeconds, 0],
  ["ms a sale", recoveryMs, 1],
  ["processor ms a sale", (one) => one.recoveryCpuMs, 1],
  ["largest MB", (one) => one.largestMb, 0],
  ["a till's sale in s", (one) => one.tillSeconds, 1],
];

function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      sales: { type: "string", default: "1000,10000" },
      shops: { type: "string", default: "50" },
      "at-once": { type: "string", default: "60" },
      seconds: { type: "string", default: "60" },
      "poll-after": { type: "string", default: "14400" },
      out: { type: "string", default: "bench/results" },
    },
  });
  const whole = (name: string, text: string): number => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name}: expected a whole number, found "${text}"`);
    return value;
  };
  return {
    sales: values.sales.split(",").map((text) => whole("sales", text)),
    shops: whole("shops", values.shops),
    atOnce: whole("at-once", values["at-once"]),
    seconds: whole("seconds", values.seconds),
    pollAfter: whole("poll-after", values["poll-after"]),
    outFolder: values.out,
  };
}

async function main(options: Options): Promise<void> {
  installQuietRuntime();
  const all: Figures[] = [];
  for (const sales of options.sales) {
    all.push(await figuresOf(sales, options));
    all.sort((one, other) => one.sales - other.sales);
    // A size can take an hour: what has been measured must not be lost with the next one.
    print(all);
    const path = await writeFigures(options.outFolder, "open-sales", { options, all });
    await writeFile(path.replace(/json$/, "svg"), plot(all));
    process.stdout.write(`\nWritten: ${path}, and the plot beside it\n`);
  }
  const beyond = beyondLimits(all);
  for (const one of beyond) process.stdout.write(`Beyond its limit: ${one}\n`);
  if (beyond.length > 0) process.exitCode = 1;
}

function print(all: readonly Figures[]): void {
  const rows = all.map((one) => [
    String(one.sales),
    ...COLUMNS.map(([, figure, digits]) => figure(one).toFixed(digits)),
  ]);
  const grows = ["grows by", ...COLUMNS.map(([, figure]) => exponent(all, figure)?.toFixed(2) ?? "")];
  process.stdout.write(`\n${table(["sales", ...COLUMNS.map(([head]) => head)], [...rows, grows])}\n`);
}

try {
  await main(readOptions(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n\n${USAGE}\n`);
  process.exitCode = 1;
}
