import { Readable } from "node:stream";

import { addDevCommands } from "../../dev/commands.ts";
import { runCli } from "../run-cli.ts";

export interface CallOptions {
  env?: Record<string, string>;
  stdin?: string;
  signal?: AbortSignal;
  /** Called with each piece of either stream. */
  onOutput?: (text: string) => void;
}

export interface CliResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Nobody listens there, and it is known at once. */
export const NO_TEMPORAL = { TEMPORAL_ADDRESS: "127.0.0.1:9" };

/** The command in this process, with streams of its own and nothing of this process's environment. */
export async function callCli(argv: readonly string[], options: CallOptions = {}): Promise<CliResult> {
  const { env = NO_TEMPORAL, stdin = "", signal = new AbortController().signal, onOutput } = options;
  const said = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr") => ({
    write: (text: string, written?: unknown) => {
      said[name] += text;
      onOutput?.(text);
      if (typeof written === "function") written();
      return true;
    },
  });
  const context = {
    // Temporal's own configuration file of the user who runs the tests stays out of it.
    env: { TEMPORAL_CONFIG_FILE: "/nonexistent/temporal.toml", ...env },
    stdin: Readable.from(stdin === "" ? [] : [Buffer.from(stdin)]),
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    signal,
  };
  const exitCode = await runCli(argv, context, addDevCommands);
  return { exitCode, ...said };
}
