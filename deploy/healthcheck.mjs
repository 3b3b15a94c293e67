// The image's HEALTHCHECK: asks the process of this container whether it is alive. Only those that serve can be asked;
// any other command is alive for as long as it runs.
import { readFileSync } from "node:fs";
import { parse } from "jsonc-parser";

/** The settings of the ports that answer `/healthz`: variable, place in the configuration file, default in the image. */
const PORTS = {
  // The image sets the variable; without a port, a worker answers nobody.
  worker: ["HEALTH_PORT", ({ healthPort }) => healthPort, ""],
  callbacks: ["CALLBACK_PORT", ({ callbacks }) => callbacks?.port, "8080"],
  codec: ["FISCALFLOW_CODEC_PORT", ({ codec }) => codec?.port, "8082"],
};

// The container's first process, which is the entrypoint with its command, or an init with both behind it.
const [pid = "1"] = process.argv.slice(2);
const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
const command = words[words.findIndex((word) => word.endsWith("src/main.js")) + 1] ?? "";
const port = portOf(PORTS[command]);
if (port !== "") {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
  if (!response?.ok) process.exitCode = 1;
}

/** As the process itself chooses it. */
function portOf([variable, inFile, usual] = ["", () => undefined, ""]) {
  return process.env[variable] || (inFile(configFile()) ?? usual);
}

/** What is wrong with the file, the process itself has said. */
function configFile() {
  const path = process.env.FISCALFLOW_CONFIG;
  return (path && parse(readFileSync(path, "utf8"), [], { allowTrailingComma: true })) || {};
}
