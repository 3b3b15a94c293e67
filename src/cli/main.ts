#!/usr/bin/env node
import { runCli } from "./run-cli.ts";

/** The process may go on this long after its work is done; then something was left open, and it is ended. */
const LINGER_MS = 2_000;

const stop = new AbortController();
for (const [name, exitCode] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.on(name, () => {
    // The first asks to finish what is under way; whoever asks twice does not want to wait.
    if (stop.signal.aborted) process.exit(exitCode);
    stop.abort();
  });
}
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // Whoever read the output has seen enough (`fiscalflow … | head`).
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

const { env, stdin, stdout, stderr } = process;
process.exitCode = await runCli(process.argv.slice(2), { env, stdin, stdout, stderr, signal: stop.signal });
setTimeout(() => process.exit(), LINGER_MS).unref();
