// The image's HEALTHCHECK: asks the process of this container whether it is alive. Only those that serve can be asked;
// any other command is alive for as long as it runs.
import { readFileSync } from "node:fs";

/** The settings of the ports that answer `/healthz`, with their defaults in the image. */
const PORTS = {
  // The image sets it; without it, a worker answers nobody.
  worker: ["HEALTH_PORT", ""],
  callbacks: ["CALLBACK_PORT", "8080"],
  codec: ["FISCALFLOW_CODEC_PORT", "8082"],
};

// The container's first process, which is the entrypoint with its command, or an init with both behind it.
const [pid = "1"] = process.argv.slice(2);
const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
const command = words[words.findIndex((word) => word.endsWith("src/main.js")) + 1] ?? "";
const [variable = "", usual = ""] = PORTS[command] ?? [];
const port = process.env[variable] || usual;
if (port !== "") {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
  if (!response?.ok) process.exitCode = 1;
}
