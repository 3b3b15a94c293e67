// The build, step by step. With `--tell` it says on standard error what it does now: somebody at a terminal waits for
// it.
import { spawnSync } from "node:child_process";

const STEPS = [
  { what: "compiling the sources", command: "tsc -p tsconfig.build.json" },
  { what: "bundling the workflows", command: "node dist/src/worker/build-bundle.js" },
  { what: "making the files small", command: "node scripts/minify.mjs" },
  {
    what: "compiling the packages for callers and tills",
    command: "npm run --silent build --workspace @fiscalflow/client --workspace @fiscalflow/receipt",
  },
];

const tells = process.argv.includes("--tell");
if (tells) process.stderr.write("Building fiscalflow, which takes about a minute:\n");
for (const [index, { what, command }] of STEPS.entries()) {
  if (tells) process.stderr.write(`  ${index + 1} of ${STEPS.length}: ${what} …\n`);
  // npm has put the tools on the path. On Windows they are scripts, which only a shell runs.
  const { status, error } = spawnSync(command, { stdio: "inherit", shell: true });
  if (error) throw error;
  // A signal that ended the step has no status.
  if (status !== 0) process.exit(status ?? 1);
}
