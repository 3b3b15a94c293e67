import { DefaultLogger, makeTelemetryFilterString, Runtime } from "@temporalio/worker";

let installed = false;

/** Workflows that are terminated under a worker are no news here. Signals are the owner's business. */
export function installQuietRuntime(): void {
  if (installed) return;
  installed = true;
  const filter = makeTelemetryFilterString({ core: "ERROR", other: "ERROR" });
  Runtime.install({
    logger: new DefaultLogger("ERROR"),
    telemetryOptions: { logging: { filter } },
    shutdownSignals: [],
  });
}
