import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createEmbeddedServer, type EmbeddedServer } from "../../src/servers/postgres-server.ts";
import type { DevServer } from "../../src/servers/start-dev-server.ts";
import { bundleWorkflows } from "../../src/worker/bundle-workflows.ts";
import { buildWithWorkflows } from "../faults/stack/broken-build.ts";
import { ProductProcess } from "../faults/stack/product-process.ts";
import { TIMINGS } from "../faults/stack/timings.ts";
import { commandEnv } from "../rig/command-env.ts";
import { MAIN } from "../rig/command-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { each, expectEachOnce, finish, openSales } from "../rig/open-sales.ts";
import { startOwnServer } from "../rig/own-server.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/** What users have: packed, and kept here, since what was released once is never built again. */
const LAST_RELEASE = new URL("last-release.json", import.meta.url);
const CHANGED_WORKFLOWS = fileURLToPath(new URL("../replay/changed-workflows.ts", import.meta.url));
const SALES = Number(process.env["REHEARSAL_SALES"] ?? 200);
/** That the new build begins, and the old one ends. */
const SALES_OF_NEW = Math.ceil(SALES / 5);
const WORKERS = 2;
const REHEARSAL_MS = 900_000;

const run = promisify(execFile);

interface Build {
  name: string;
  main: string;
}

const installedIn = await mkdtemp(join(tmpdir(), "fiscalflow-last-release-"));
let installed: Promise<Build> | undefined;
afterAll(() => rm(installedIn, { recursive: true, force: true }));

/** Installs the packed file of the last release, as a user does. */
async function installLast(): Promise<Build> {
  const { file, version, sha256 } = JSON.parse(await readFile(LAST_RELEASE, "utf8")) as Record<string, string>;
  const packed = fileURLToPath(new URL(file ?? "", LAST_RELEASE));
  const found = createHash("sha256")
    .update(await readFile(packed))
    .digest("hex");
  expect(found, `${packed} is not the file that was released`).toBe(sha256);
  await writeFile(join(installedIn, "package.json"), JSON.stringify({ private: true }));
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", packed], { cwd: installedIn });
  return { name: `release ${version}`, main: join(installedIn, "node_modules/fiscalflow/dist/src/main.js") };
}

const KEYS = [1, 2].map((n) => `key-${n}:${Buffer.alloc(32, n).toString("base64")}`).join(",");

const PAYLOADS = { plain: {}, encrypted: { FISCALFLOW_PAYLOAD_KEYS: KEYS } };

for (const [name, keys] of Object.entries(PAYLOADS)) {
  if ((process.env["REHEARSAL_PAYLOADS"] ?? name) !== name) continue;
  describeWithTemporal(`an upgrade, and the way back, with ${name} payloads`, () => rehearse(name, keys));
}

function rehearse(name: string, keys: Record<string, string>): void {
  let folder: string;
  let postgres: EmbeddedServer;
  let temporal: DevServer;
  let rig: Rig;
  let last: Build;
  let env: Record<string, string>;
  let workers: ProductProcess[] = [];
  const now: Build = { name: "this build", main: MAIN };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-rehearsal-"));
    // The database runs as somebody else where the tests run as root.
    await chmod(folder, 0o755);
    last = await (installed ??= installLast());
    temporal = await startOwnServer();
    postgres = createEmbeddedServer({ home: join(folder, "ledger") });
    const { url, ownerUrl } = await postgres.ensure();
    rig = await startRig({
      address: temporal.address,
      receiver: false,
      workers: false,
      env: { LEDGER_URL: url, ...keys },
    });
    env = {
      ...commandEnv(rig),
      LEDGER_OWNER_URL: ownerUrl,
      ...TIMINGS,
      FISCALFLOW_TIMING_RESUBMISSIONS: "0",
      // An answer that a busy machine has late would leave a movement unknown, and no operator is here.
      FISCALFLOW_TIMING_CALL_TIMEOUT_MS: "10000",
    };
  }, REHEARSAL_MS);
  afterAll(async () => {
    for (const worker of workers) worker.signal("SIGKILL");
    await Promise.all(workers.map(({ ended }) => ended));
    await rig?.close();
    await temporal?.stop();
    await postgres?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }, REHEARSAL_MS);

  /** A command of a build. @throws with what it said, where it fails */
  async function command({ name: build, main }: Build, ...argv: string[]): Promise<string> {
    try {
      return (await run(process.execPath, [main, ...argv], { env: { PATH: process.env["PATH"], ...env } })).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`\`fiscalflow ${argv.join(" ")}\` of ${build}: ${stdout}${stderr}`, { cause: error });
    }
  }

  async function attentions(): Promise<unknown[]> {
    const all: unknown[] = [];
    for await (const one of rig.starter.listAttention()) all.push(one);
    return all;
  }

  /** As a rolling update does: the new ones serve before the others end. */
  async function serveBy({ main }: Build, label: string): Promise<void> {
    const before = workers;
    workers = Array.from({ length: WORKERS }, (_, n) => {
      const logPath = join(folder, `${label}-${n}.log`);
      return new ProductProcess({ main, command: "worker", env, logPath, readyMessage: "serving" });
    });
    for (const worker of workers) if (!(await worker.ready)) throw new Error(`${label}: ${worker.lastWords}`);
    for (const worker of before) worker.signal("SIGTERM");
    for (const worker of before) expect(await worker.ended, worker.lastWords).toBe(0);
  }

  test(
    `the last release begins ${SALES} sales, this build ends half of them, and is rolled back: 0 twice, 0 stuck`,
    async () => {
      await command(last, "setup");
      await serveBy(last, "before");
      const all = openSales(() => rig, "OLD", SALES);
      await each(all, ({ invoice, open }) => open(invoice));

      // A build that could not carry these on is seen before it is promoted.
      const broken = await buildWithWorkflows((await bundleWorkflows(CHANGED_WORKFLOWS)).code);
      const replayed = command({ name: "a build with a timer too many", main: broken.main }, "replay");
      await expect(replayed).rejects.toThrow(/this build cannot carry on \d+ of them/);
      await broken.remove();

      // While the old workers serve.
      await command(now, "setup");
      expect(await command(now, "replay", "--limit", "1000")).toContain("this build can carry on all of them");
      await serveBy(now, "upgraded");
      await finish(
        rig,
        all.filter((_, n) => n % 2 === 0),
      );
      const ofNew = openSales(() => rig, "NEW", SALES_OF_NEW);
      await each(ofNew, ({ invoice, open }) => open(invoice));

      expect(await command(last, "replay", "--limit", "1000")).toContain("this build can carry on all of them");
      await serveBy(last, "rolled-back");
      await finish(rig, [...all.filter((_, n) => n % 2 === 1), ...ofNew]);

      await expectEachOnce(rig, [...all, ...ofNew]);
      await expect.poll(attentions).toEqual([]);
      await expect.poll(async () => (await rig.client.workflow.count("ExecutionStatus = 'Running'")).count).toBe(0);
      for (const build of [last, now]) {
        expect(await command(build, "ledger", "verify"), build.name).toContain("unaltered");
        // What one of them has written, the other one reads to its end.
        const ended = ["replay", "--query", 'ExecutionStatus != "Running"', "--limit", "2000"];
        expect(await command(build, ...ended), build.name).toContain("this build can carry on all of them");
      }
      process.stdout.write(
        `Rehearsal (${name}): ${SALES} sales of ${last.name}, ${SALES_OF_NEW} of this build: 0 twice, 0 stuck.\n`,
      );
    },
    REHEARSAL_MS,
  );
}
