#!/usr/bin/env node
import { performance } from "node:perf_hooks";

import { runCli } from "./run-cli.ts";
import { stopOnSignals } from "./stop-on-signals.ts";

/** The process may go on this long after its work is done; then something was left open, and it is ended. */
const LINGER_MS = 2_000;

const stop = stopOnSignals(
  (exitCode) => process.exit(exitCode),
  () => performance.now(),
);
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stop.receive(name));
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
