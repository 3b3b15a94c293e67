// Runs tests with another version of Node, from npm's package `node`:
//   npm run test:node -- 22                       the unit tests and whole sales
//   npm run test:node -- 22 src/contract          what is named
import { spawnSync } from "node:child_process";

const [wanted = "", ...named] = process.argv.slice(2);
const files = named.length > 0 ? named : ["src/", "activities/", "workflows/", "test/e2e/sale.test.ts"];

if (!/^\d+(\.\d+){0,2}$/.test(wanted)) {
  process.stderr.write("Which Node? For example: npm run test:node -- 22\n");
  process.exit(2);
}

/** @param {string[]} args @param {"inherit" | "pipe"} stdout */
function node(args, stdout) {
  const command = ["-y", "-p", `node@${wanted}`, "node", ...args];
  const shell = process.platform === "win32";
  return spawnSync("npx", command, { encoding: "utf8", stdio: ["ignore", stdout, "inherit"], shell });
}

const version = (node(["--version"], "pipe").stdout ?? "").trim();
if (!`${version}.`.startsWith(`v${wanted}.`)) {
  process.stderr.write(`Node ${wanted} cannot be had from the registry${version && `: it gives ${version}`}\n`);
  process.exit(1);
}
process.stdout.write(`Tests with Node ${version}\n`);
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project", "unit", "--project", "system"];
process.exitCode = node([...vitest, ...files], "inherit").status ?? 1;
