import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

type LogLine = Record<string, unknown>;

/** A command of the product, as it is built, in a process of its own; what it logs is read line by line. */
export class CommandProcess {
  readonly child: ChildProcess;
  readonly lines: LogLine[] = [];
  #look = (): void => undefined;

  constructor(name: string, env: Record<string, string>) {
    this.child = spawn(process.execPath, [MAIN, name], {
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "inherit", "pipe"],
    });
    if (this.child.stderr) {
      createInterface(this.child.stderr).on("line", (line) => {
        this.lines.push(logLine(line));
        this.#look();
      });
    }
  }

  /** The line with this message, as soon as it is written. */
  async said(message: string): Promise<LogLine> {
    const ended = once(this.child, "exit").then(() => {
      throw new Error(`it ended without saying "${message}": ${JSON.stringify(this.lines)}`);
    });
    const found = new Promise<LogLine>((resolve) => {
      this.#look = () => {
        const line = this.lines.find(({ msg }) => msg === message);
        if (line) resolve(line);
      };
      this.#look();
    });
    return Promise.race([found, ended]);
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    const exit = once(this.child, "exit");
    this.child.kill(signal);
    const [code] = (await exit) as [number | null];
    return code;
  }
}

/** What a killed process wrote last may be half a line. */
function logLine(line: string): LogLine {
  if (!line.startsWith("{")) return { msg: line };
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { msg: line };
  }
}

export interface Ended {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** A command of the product that ends by itself, as it is built, in a process of its own. */
export async function runCommand(argv: string[], env: Record<string, string>, stdin = ""): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...argv], { env: { PATH: process.env["PATH"], ...env } });
  const said = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (said.stdout += piece));
  child.stderr.setEncoding("utf8").on("data", (piece: string) => (said.stderr += piece));
  // It may end before it has read everything.
  child.stdin.on("error", () => undefined).end(stdin);
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode, ...said };
}
