import { createWriteStream } from "node:fs";

import { type GuardedChild, spawnGuarded } from "../../../src/servers/run-command.ts";

export interface ProductProcessOptions {
  /** The built command line. */
  readonly main: string;
  readonly command: "worker" | "callbacks";
  readonly env: Readonly<Record<string, string>>;
  readonly logPath: string;
  /** What it says as soon as it does its work. */
  readonly readyMessage: string;
}

const LAST_LINES = 5;

/** A process of the built product. It does not outlive this one. */
export class ProductProcess {
  readonly pid: number | undefined;
  /** True once it does its work; false where it ended before. */
  readonly ready: Promise<boolean>;
  /** With its exit code; null where a signal ended it. */
  readonly ended: Promise<number | null>;
  readonly #child: GuardedChild;
  #signalled: NodeJS.Signals | undefined;
  #lastLines: string[] = [];

  constructor({ main, command, env, logPath, readyMessage }: ProductProcessOptions) {
    const log = createWriteStream(logPath, { flags: "a" });
    let sayReady: () => void = () => undefined;
    const said = new Promise<true>((resolve) => (sayReady = () => resolve(true)));
    const wanted = `"msg":${JSON.stringify(readyMessage)}`;
    this.#child = spawnGuarded(process.execPath, [main, command], {
      env: { PATH: process.env["PATH"], ...env },
      onLine: (line) => {
        log.write(`${line}\n`);
        this.#lastLines = [...this.#lastLines, line].slice(-LAST_LINES);
        if (line.includes(wanted)) sayReady();
      },
    });
    this.pid = this.#child.pid;
    this.ended = this.#child.ended.then(({ exitCode }) => {
      log.end();
      return exitCode;
    });
    this.ready = Promise.race([said, this.ended.then((): false => false)]);
  }

  /** The signal that it was sent, if any: what ends without one has ended by itself. */
  get signalled(): NodeJS.Signals | undefined {
    return this.#signalled;
  }

  /** What it said last: of one that has ended, why. */
  get lastWords(): string {
    return this.#lastLines.join("\n");
  }

  /** Stands still until it is thawed. A process that is gone takes no harm. */
  freeze(): void {
    this.#child.signal("SIGSTOP");
  }

  thaw(): void {
    this.#child.signal("SIGCONT");
  }

  signal(signal: NodeJS.Signals): void {
    this.#signalled = signal;
    this.#child.signal(signal);
  }
}
