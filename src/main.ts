#!/usr/bin/env node
/**
 * The executable `fiscalflow`: it joins the command line of the product with the commands for development, neither of
 * which imports the other. No command is in here.
 *
 * Stands on: `src/cli`, `src/dev`.
 */
import { performance } from "node:perf_hooks";

import { stopOnSignals } from "./cli/context.ts";
import { runCli } from "./cli/run-cli.ts";
import { addDevCommands } from "./dev/commands.ts";

const { env, stdin, stdout, stderr } = process;
/** As a shell has it for a process that SIGPIPE ended. */
const SIGPIPE_EXIT_CODE = 141;
const stop = stopOnSignals(
  (exitCode) => process.exit(exitCode),
  () => performance.now(),
);
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stop.receive(name));
stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader of the output has seen enough (`fiscalflow … | head`). What the command was to do may not be done.
  if (error.code === "EPIPE") process.exit(SIGPIPE_EXIT_CODE);
  throw error;
});
stderr.on("error", (error: NodeJS.ErrnoException) => {
  // Whoever reads the log may end first, as at Ctrl-C: the calls under way are finished all the same.
  if (error.code !== "EPIPE") throw error;
});

const exitCode = await runCli(
  process.argv.slice(2),
  { env, stdin, stdout, stderr, signal: stop.signal },
  addDevCommands,
);
// What was written may still be on its way into a pipe. Connections that are left open end with the process.
await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))));
process.exit(exitCode);
