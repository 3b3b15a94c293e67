import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

import { type DevServer, startDevServer, temporalCliOrSkipReason } from "../../src/embedded/index.ts";
import { startEmbeddedPostgres } from "../../src/ledger/index.ts";
import { suiteNamespaces } from "./namespace.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Undefined where no Temporal server can be had; `skipReason` says why. */
    temporalAddress: string | undefined;
    skipReason: string | undefined;
    /** Of that server; for the suites in a browser. */
    temporalUiUrl: string | undefined;
    workflowBundlePath: string;
    /** A PostgreSQL on which each suite makes a database of its own. */
    ledgerServerUrl: string;
  }
}

const BUILT_BUNDLE = fileURLToPath(new URL("../../dist/workflow-bundle.cjs", import.meta.url));

/**
 * Of what has changed: for the suites that run the command in processes of its own, and for the bundled workflows of
 * all.
 */
async function build(): Promise<void> {
  const built = spawn("npm run --silent build", { shell: true, stdio: ["ignore", "inherit", "inherit"] });
  const [exitCode] = (await once(built, "close")) as [number | null];
  if (exitCode !== 0) {
    throw new Error(
      "The product does not compile, so no test was run: see the lines with `error TS…` at the top of this output.",
    );
  }
}

/** The product as it is built now, and one Temporal server for all suites, each of which has a namespace of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await build();
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-test-"));
  // The database runs as somebody else where the tests run as root.
  await chmod(folder, 0o755);
  project.provide("workflowBundlePath", BUILT_BUNDLE);

  const database = await startEmbeddedPostgres({ home: join(folder, "ledger") });
  project.provide("ledgerServerUrl", database.url);
  const endDatabase = async (): Promise<void> => {
    await database.close();
    await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 200 });
  };

  const cli = await temporalCliOrSkipReason({ onProgress: (line) => process.stderr.write(`${line}\n`) });
  if (cli.skipReason !== undefined) {
    project.provide("skipReason", cli.skipReason);
    project.provide("temporalAddress", undefined);
    return endDatabase;
  }
  const startServer = async (): Promise<DevServer> => {
    const started = await startDevServer({
      namespaces: await suiteNamespaces(),
      uiPort: 0,
      dynamicConfig: {
        // What carries out Schedules polls in each namespace all the time, which takes the server more than the work of
        // the suites.
        "worker.perNamespaceWorkerCount": 0,
        // A drain waits until the server ends the poll of an idle queue, which takes a minute otherwise.
        "matching.longPollExpirationInterval": "1s",
        // A closed workflow is forgotten only once its close is acknowledged, which takes half a minute otherwise.
        "history.transferProcessorUpdateAckInterval": "1s",
        "history.visibilityProcessorUpdateAckInterval": "1s",
      },
    });
    project.provide("temporalAddress", started.address);
    project.provide("temporalUiUrl", started.uiUrl);
    return started;
  };
  let server = await startServer();
  // A new server: its suites name their sales as they did in the run before.
  project.onTestsRerun(async () => {
    await server.stop();
    await build();
    server = await startServer();
  });
  project.provide("skipReason", undefined);
  return async () => {
    await server.stop();
    await endDatabase();
  };
}
