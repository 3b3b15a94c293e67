import { DefaultLogger, Runtime } from "@temporalio/worker";

/** Once a process: only errors are printed, and signals are the test runner's business. */
Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
