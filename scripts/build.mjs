// The build: what the package carries, and beside it the packages for callers and tills, which are compiled from the
// same sources. With `--tell` it says on standard error what it does now: somebody at a terminal waits for it.
import { spawn } from "node:child_process";
import { once } from "node:events";

const PRODUCT = [
  { what: "compiling the sources", command: "tsc -p tsconfig.build.json" },
  { what: "bundling the workflows", command: "node dist/src/worker/build-bundle.js" },
  { what: "making the files small", command: "node scripts/minify.mjs && node scripts/build-id.mjs" },
];
const PACKAGES = [
  {
    what: "compiling the packages for callers and tills",
    command: "npm run --silent build --workspace @fiscalflow/client --workspace @fiscalflow/receipt",
  },
];

const tell = process.argv.includes("--tell") ? (/** @type {string} */ line) => process.stderr.write(line) : () => {};

/** @param {typeof PRODUCT} steps @returns the exit code of the first step that fails, else 0 */
async function run(steps) {
  for (const { what, command } of steps) {
    tell(`  ${what} …\n`);
    // npm has put the tools on the path. On Windows they are scripts, which only a shell runs.
    const [exitCode] = await once(spawn(command, { stdio: "inherit", shell: true }), "exit");
    // A signal that ended the step has no exit code.
    if (exitCode !== 0) return exitCode ?? 1;
  }
  return 0;
}

tell("Building fiscalflow, which takes about a minute:\n");
const exitCodes = await Promise.all([run(PRODUCT), run(PACKAGES)]);
process.exitCode = Math.max(...exitCodes);
