import { DefaultLogger, Runtime } from "@temporalio/worker";

/** Once a process: only errors are printed, those of the SDK's core too; signals are the test runner's business. */
Runtime.install({
  logger: new DefaultLogger("ERROR"),
  telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" } } },
  shutdownSignals: [],
});
