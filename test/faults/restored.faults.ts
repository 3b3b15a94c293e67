import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { openLedger } from "../../src/ledger/index.ts";
import { readLedgerNote } from "../../src/worker/ledger-note.ts";
import { Killer } from "./drive/killer.ts";
import { runStorm } from "./drive/storm.ts";
import { faultOptions } from "./options.ts";
import { planKills } from "./plan/kill-plan.ts";
import { SalePlan } from "./plan/sale-plan.ts";
import { SHAPES } from "./plan/shapes.ts";
import { type Evidence, gatherEvidence } from "./reckoning/evidence.ts";
import { INVARIANTS } from "./reckoning/invariants.ts";
import { type BackupKind, BackedUpServer, POSTGRES_TOOLS } from "./stack/backed-up-server.ts";
import { type FaultStack, startFaultStack } from "./stack/fault-stack.ts";

const MINUTE_MS = 60_000;
const LONGEST_MS = 15 * MINUTE_MS;
const LOOK_MS = 200;
const SALES = 60;
/** Of the sales that are started: when the backup is made, and when the database is lost. */
const BACKED_UP_AT = 0.3;
const LOST_AT = 0.7;

/**
 * A sale that ended in the lost time has lost its movements with it, so that no refund returns its goods by itself
 * (`test/e2e/restored.night.test.ts`), which the reckoning does not know of.
 */
const SHAPES_OF_STORM = SHAPES.filter(({ refund }) => refund?.when !== "after-its-window");

/** What a database that has lost an hour cannot say any more. */
const LOST_WITH_IT: readonly string[] = [
  "every document of the books is in the ledger as it is",
  "every movement that was applied is in the ledger",
];

/** In the small run the one of which nothing but the number of events tells that it is old. */
const KINDS: readonly BackupKind[] = faultOptions(process.env).full ? ["dump", "archive", "files"] : ["files"];

/** The database is lost in the middle of a storm, and restored as it was long before. */
describe.skipIf(POSTGRES_TOOLS === undefined && !process.env["CI"]).each<BackupKind>([...KINDS])(
  "a storm whose database is restored from an old backup (%s)",
  (kind) => {
    const { seed, keep } = faultOptions(process.env);
    let folder: string;
    let server: BackedUpServer | undefined;
    let stack: FaultStack | undefined;
    let evidence: Evidence;
    let accepted: CliResult;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "fiscalflow-backed-up-"));
      server = await BackedUpServer.start(folder);
      const { url, ownerUrl } = server;
      const made = openLedger({ url, ownerUrl, home: "/nowhere" });
      await made.ready();
      await made.close();
      const killer = new Killer(
        planKills(seed, 12).filter(({ kill }) => kill !== "ledger"),
        seed,
      );
      stack = await startFaultStack({
        seed,
        workers: 3,
        keep,
        ledgerUrl: url,
        onBoundary: (seat, operation, at) => killer.onBoundary(seat, operation, at),
      });
      const storm = await runStorm({
        stack,
        seed,
        plan: new SalePlan({ seed, faults: true, lastForEver: 0, shapes: SHAPES_OF_STORM }),
        sales: SALES,
        atOnce: 20,
        killer,
        randomFaults: false,
        meanwhile: (signal, share) => loseAndRestore(stack as FaultStack, server as BackedUpServer, share, signal),
        patienceMs: 2 * MINUTE_MS,
        longestMs: LONGEST_MS - 2 * MINUTE_MS,
      });
      evidence = await gatherEvidence(stack, storm);
    }, LONGEST_MS);
    afterAll(async () => {
      await stack?.close();
      await server?.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
      process.stderr.write(`FAULTS_SEED=${seed}\n`);
    });

    async function loseAndRestore(
      running: FaultStack,
      database: BackedUpServer,
      share: () => number,
      signal: AbortSignal,
    ): Promise<void> {
      const { client, temporal, workers } = running;
      const ledger = openLedger({ url: database.url, home: "/nowhere" });
      const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
        while (!(await holds())) await delay(LOOK_MS, undefined, { signal });
      };
      try {
        const note = () => readLedgerNote(client).catch(() => undefined);
        const noted = async () => (await note())?.events ?? 0;
        // A backup from before the first worker would be another database, and not an old one.
        await until(async () => share() >= BACKED_UP_AT && (await note()) !== undefined);
        await database.backUp(kind);
        const { events } = await ledger.place();
        // Nothing but their number tells of files, and of a dump on the same server, that they are old.
        await until(async () => share() >= LOST_AT && (await noted()) > events);
        let lostAt = "";
        await running.withoutWorkers(async () => {
          lostAt = new Date().toISOString();
          await database.restore(kind);
        });
        // Workers that know better wait, until somebody says what was lost.
        const said = async (seat: number) => await readFile(join(running.folder, `worker-${seat}.log`), "utf8");
        const waits = async () => (await Promise.all(workers.map((_, seat) => said(seat)))).join("\n");
        await until(async () => (await waits()).includes("until `fiscalflow ledger restored` says"));
        const env = { LEDGER_URL: database.url, TEMPORAL_ADDRESS: temporal.address };
        // Temporal may be away at this moment.
        await until(async () => {
          accepted = await callCli(["ledger", "restored", "--at", lostAt], { env });
          return accepted.exitCode === 0;
        });
      } finally {
        await ledger.close();
      }
    }

    test("the workers waited until somebody said what was lost", () => {
      expect(accepted.stderr).toContain("was restored");
      expect(accepted.exitCode).toBe(0);
    });

    test.each(Object.entries(INVARIANTS).filter(([name]) => !LOST_WITH_IT.includes(name)))("%s", (_, findings) => {
      const found = findings(evidence);
      expect(found, found.slice(0, 5).join("\n")).toEqual([]);
    });

    test("the simulated shop and operator met no unexpected error", () => {
      expect(evidence.storm.problems).toEqual([]);
    });
  },
);
