import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

export interface DemoProcess {
  readonly pid: number;
  /** All that it wrote so far, both streams in the order of arrival. */
  output(): string;
  /** Resolves once the output matches; rejects where the process ends before. */
  says(pattern: RegExp): Promise<void>;
  interrupt(): void;
  /** Its exit code. */
  ended(): Promise<number | null>;
  /** The processes that it has started and that run now. */
  children(): Promise<number[]>;
  /** What it has left in its folder, which it has for temporary files and works in; with what is in folders of it. */
  leftFiles(): Promise<string[]>;
  /** A file of its folder. */
  read(path: string): Promise<string>;
}

/** The built `fiscalflow demo` in a process and a folder of its own, without a terminal. */
export async function demoProcess(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<DemoProcess> {
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-demo-test-"));
  const child = spawn(process.execPath, [MAIN, "demo", ...args], {
    cwd: folder,
    env: { ...withoutTemporal(process.env), NODE_OPTIONS: "", TMPDIR: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });
  const exit = once(child, "close").then(([exitCode]) => (typeof exitCode === "number" ? exitCode : null));
  const { pid } = child;
  if (pid === undefined) throw new Error("the demo could not be started");
  let output = "";
  let onOutput = (): void => undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      output += chunk;
      onOutput();
    });
  }
  return {
    pid,
    output: () => output,
    async says(pattern) {
      const said = new Promise<"said">((resolve) => {
        onOutput = () => {
          if (pattern.test(output)) resolve("said");
        };
        onOutput();
      });
      const first = await Promise.race([said, exit]);
      if (first !== "said") throw new Error(`the demo ended and did not say ${String(pattern)}:\n${output}`);
    },
    interrupt: () => void child.kill("SIGINT"),
    ended: () => exit,
    children: () => childrenOf(pid),
    async leftFiles() {
      const found = await readdir(folder, { recursive: true, withFileTypes: true });
      return found
        .filter((one) => !one.isDirectory())
        .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
    },
    read: (path) => readFile(join(folder, path), "utf8"),
  };
}

/**
 * The built `fiscalflow` with this environment alone, to its end: what it wrote to standard output. @throws unless it
 * ends with 0
 */
export async function fiscalflow(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args], { env: { PATH, ...env } });
  return stdout;
}

/** The demo brings its own server, whatever the developer's shell says. */
function withoutTemporal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith("TEMPORAL_") || name === "TEMPORAL_CLI_PATH");
  return Object.fromEntries(kept);
}

async function childrenOf(parent: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="]);
  return stdout.split("\n").flatMap((line) => {
    const [pid, ppid] = line.trim().split(/\s+/).map(Number);
    return pid !== undefined && ppid === parent ? [pid] : [];
  });
}
