import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

import { SEARCH_ATTRIBUTES } from "../../src/contract/index.ts";
import { startEmbeddedPostgres } from "../../src/servers/test-support/start-embedded-postgres.ts";
import { type DevServer, startDevServer } from "../../src/servers/start-dev-server.ts";
import { temporalCliOrSkipReason } from "./temporal-cli.ts";
import { bundleWorkflows } from "../../src/worker/bundle-workflows.ts";
import { suiteNamespaces } from "./namespace.ts";
import { NAMED_SUITES, PROMPT_DRAINS } from "./patience.ts";
import { testServerByMaven } from "./time-skipping.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Undefined where no Temporal server can be had; `skipReason` says why. */
    temporalAddress: string | undefined;
    skipReason: string | undefined;
    /** Undefined where the product compiles. A person who names suites, or watches them, reads it in each of them. */
    compileProblem: string | undefined;
    /** Of that server; for the suites in a browser. */
    temporalUiUrl: string | undefined;
    workflowBundlePath: string;
    /** A PostgreSQL on which each suite makes a database of its own. */
    ledgerServerUrl: string;
  }
}

const BUILT_BUNDLE = fileURLToPath(new URL("../../dist/workflow-bundle.cjs", import.meta.url));

/** As it is published, with the packages beside it; else only what the suites that are named run. */
const BUILDS_ALL = NAMED_SUITES.length === 0 || NAMED_SUITES.some((suite) => /^test\/(demo|examples)\//.test(suite));

/** Of what has changed: for the suites that run the command in processes of its own. */
async function compile(command: string): Promise<void> {
  const compiled = spawn(command, { shell: true, stdio: ["ignore", "inherit", "inherit"] });
  const [exitCode] = (await once(compiled, "close")) as [number | null];
  if (exitCode !== 0) {
    throw new Error(
      "The product does not compile, so no test was run: see the lines with `error TS…` at the top of this output.",
    );
  }
}

/** For a person who waits: the workflows are bundled from their sources, beside the compiler. */
async function buildForNamedSuites(): Promise<void> {
  const bundled = bundleWorkflows().then(async ({ code }) => {
    await mkdir(dirname(BUILT_BUNDLE), { recursive: true });
    await writeFile(BUILT_BUNDLE, code);
  });
  // The compiler says better what does not compile.
  const [compiled, written] = await Promise.allSettled([compile("tsc -p tsconfig.build.json"), bundled]);
  for (const part of [compiled, written]) if (part.status === "rejected") throw part.reason;
}

/** Not where `TEST_BUILT` says that an earlier run has built all of it. */
async function build(): Promise<void> {
  if (process.env["TEST_BUILT"]) return;
  await (BUILDS_ALL ? compile("npm run --silent build") : buildForNamedSuites());
}

/** The ledger's server; the folder goes with it. */
async function startDatabase(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-test-"));
  // The database runs as somebody else where the tests run as root.
  await chmod(folder, 0o755);
  const database = await startEmbeddedPostgres({ home: join(folder, "ledger") });
  project.provide("ledgerServerUrl", database.ownerUrl);
  return async () => {
    await database.close();
    await rm(folder, { recursive: true, maxRetries: 10, retryDelay: 200 });
  };
}

/**
 * A short timer fires only after a second otherwise: the server reads that far ahead of its clock, and what is set for
 * a time that it has read comes after it.
 */
const PROMPT_TIMERS = { "history.timerProcessorMaxTimeShift": "20ms" };

/**
 * One Temporal server for all suites; undefined where none can be had.
 * @param suites that run on it; default: all, which makes its start a second longer
 */
async function startTemporal(project: TestProject, suites?: readonly string[]): Promise<DevServer | undefined> {
  const cli = await temporalCliOrSkipReason();
  project.provide("skipReason", cli.skipReason);
  if (cli.skipReason !== undefined) {
    project.provide("temporalAddress", undefined);
    return undefined;
  }
  const server = await startDevServer({
    namespaces: await suiteNamespaces(suites),
    searchAttributes: Object.values(SEARCH_ATTRIBUTES),
    uiPort: 0,
    dynamicConfig: {
      // What carries out Schedules polls in each namespace all the time, which takes the server more than the work of
      // the suites.
      "worker.perNamespaceWorkerCount": 0,
      // A closed workflow is forgotten only once its close is acknowledged, which takes half a minute otherwise.
      "history.transferProcessorUpdateAckInterval": "50ms",
      "history.visibilityProcessorUpdateAckInterval": "50ms",
      ...PROMPT_DRAINS,
      ...PROMPT_TIMERS,
    },
  });
  project.provide("temporalAddress", server.address);
  project.provide("temporalUiUrl", server.uiUrl);
  return server;
}

/**
 * The product as it is built now, and the servers of all suites, each of which has a namespace and a database of its
 * own. What starts waits for nothing else.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide("workflowBundlePath", BUILT_BUNDLE);
  project.provide("compileProblem", undefined);
  process.stderr.write("Building the product, and starting Temporal and PostgreSQL …\n");
  const [built, database, temporal] = await Promise.allSettled([
    build(),
    startDatabase(project),
    startTemporal(project),
    // Else several suites would fetch it at once.
    project.name === "slow" ? testServerByMaven() : undefined,
  ]);
  let server = temporal.status === "fulfilled" ? temporal.value : undefined;
  let stopped: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    const endDatabase = database.status === "fulfilled" ? database.value : undefined;
    await Promise.all([stopped, server?.stop(), endDatabase?.()]);
  };
  const isWatched = NAMED_SUITES.length > 0 || project.vitest.config.watch;
  if (built.status === "rejected" && isWatched) project.provide("compileProblem", messageOf(built.reason));
  for (const part of isWatched ? [database, temporal] : [built, database, temporal]) {
    if (part.status === "fulfilled") continue;
    await end();
    throw part.reason;
  }
  // A new server: its suites name their sales as they did in the run before. Nobody waits for the old one to end.
  const prepare = async (suites: readonly string[]): Promise<void> => {
    stopped = server?.stop();
    const built = build().then(() => undefined, messageOf);
    const started = startTemporal(project, suites).then((next) => (server = next));
    const [problem] = await Promise.all([built, started]);
    project.provide("compileProblem", problem);
  };
  let prepared = Promise.resolve();
  let waiting = 0;
  // Of two files that are saved together, each asks for a run: the second one has a server of its own too.
  project.onTestsRerun(async (specifications) => {
    const before = waiting++ > 0 ? prepared.then(() => untilRunEnds(project)) : prepared;
    prepared = before.then(() => prepare(specifications.map(({ moduleId }) => moduleId)));
    await prepared;
    waiting--;
  });
  return end;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Waits for the run that is about to begin, and then for its end. */
async function untilRunEnds({ vitest }: TestProject): Promise<void> {
  for (let looks = 0; looks < 40; looks++) {
    const askedAtMs = Date.now();
    await vitest.waitForTestRunEnd();
    if (Date.now() - askedAtMs > 50) return;
    await setTimeout(50);
  }
}
