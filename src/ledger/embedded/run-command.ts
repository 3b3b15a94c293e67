import { spawn } from "node:child_process";

/** The unprivileged user under whom the server runs when we are root, which PostgreSQL refuses to be. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

export interface CommandEnd {
  readonly succeeded: boolean;
  /** Both streams, at most the last 4,000 characters. */
  readonly output: string;
}

export interface CommandOptions {
  readonly cwd: string;
  readonly runAs: RunAs | undefined;
}

/** Nothing of our own: a PG* variable or a locale of the caller would change what PostgreSQL does. */
export const SERVER_ENVIRONMENT = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

/** Runs a command to its end. Never rejects. */
export function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: SERVER_ENVIRONMENT,
      stdio: ["ignore", "pipe", "pipe"],
      ...options.runAs,
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (chunk: string) => {
        output = (output + chunk).slice(-4_000);
      });
    }
    child.once("error", (error) => resolve({ succeeded: false, output: `${command}: ${error.message}` }));
    child.once("close", (exitCode) => resolve({ succeeded: exitCode === 0, output: output.trim() }));
  });
}
