import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { BUILT_MAIN } from "../faults/stack/fault-stack.ts";
import { TIMINGS } from "../faults/stack/timings.ts";
import { commandEnv } from "../rig/command-env.ts";
import { correctionsOf } from "../rig/corrections-of.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { KillingLines } from "../rig/killing-lines.ts";
import { killsOfCorrections } from "../rig/kills-of-corrections.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";
import { findingsIn } from "../rig/findings-in.ts";

const LONGEST_MS = 900_000;

/** Each correction loses its worker at a step of its own, as by a power cut, and the next worker carries it on. */
describeWithTemporal("a correction whose worker is killed", () => {
  let rig: Rig;
  let lines: KillingLines;
  let folder: string;
  let before = 0;
  /** What an operator was asked, of which workflow. */
  const asked: string[] = [];
  const { sold, request, correct, documentsOf, both, movedFor } = correctionsOf(() => rig);
  const { onHand, handleOf } = salesOf(() => rig);
  const kills = killsOfCorrections((number) => rig.simulator.documents(number)[0]?.id);

  beforeAll(async () => {
    if (!existsSync(BUILT_MAIN)) throw new Error("this suite runs what is built: run `npm run build` first");
    rig = await startRig({ receiver: false });
    before = onHand();
    for (const { name, refundWindow } of kills) {
      await sold(name, { refundWindow });
      for (const number of [`CN-${name}`, `${name}-NEW`])
        rig.simulator.setAuthority(number, [{ do: "accept", afterMs: 600 }]);
    }
    await rig.stopWorkers();
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-killed-"));
    lines = await KillingLines.open({
      main: BUILT_MAIN,
      logPath: join(folder, "worker.log"),
      api: rig.simulator.url,
      temporal: rig.address,
      ledger: rig.config.ledger.url?.reveal() ?? "",
      env: {
        ...commandEnv(rig),
        ...TIMINGS,
        // The server of the suites carries out no Schedules, and so does not describe any.
        COMPLIANCE_PURCHASES_SYNC_EVERY: "off",
        COMPLIANCE_RECONCILE_EVERY: "off",
      },
    });
    const starts: Promise<unknown>[] = [];
    for (const kill of kills) {
      await lines.serving();
      const struck = lines.killAt(kill);
      starts.push(correct(kill.name, request(kill.name), { waitSeconds: 0 }).catch(() => undefined));
      await struck.catch((error: unknown) => {
        throw new Error(`no worker was killed ${kill.what}`, { cause: error });
      });
    }
    await lines.serving();
    await Promise.all(starts);
    await vi.waitUntil(async () => (await carriedOn()).length === 0, { timeout: LONGEST_MS, interval: 500 });
  }, LONGEST_MS);
  afterAll(async () => {
    await lines?.close();
    await rig?.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /** What is still open. An operator says of each unknown movement what the service's books say. */
  async function carriedOn(): Promise<string[]> {
    const { movements } = rig.simulator.books();
    for await (const { workflowId, code, subject = "" } of rig.starter.listAttention()) {
      asked.push(`${code} ${subject}`);
      if (code !== "stock-unknown") continue;
      const applied = movements.some(({ referenceId }) => referenceId === subject);
      await rig.starter
        .resolveStock({ workflowId }, { referenceId: subject, applied, note: "as the books say" })
        .catch(() => undefined);
    }
    const open: string[] = [];
    for await (const { workflowId } of rig.client.workflow.list({ query: 'ExecutionStatus = "Running"' }))
      open.push(workflowId);
    return open;
  }

  const named = kills.map(({ what, refundWindow, name }) => [what, refundWindow, name] as const);
  test.each(named)(
    "%s (refund window: %s) issues one credit note and one corrected sale",
    async (_what, _window, name) => {
      expect(documentsOf(name)).toEqual(both(name));
      expect(movedFor(name)).toEqual([
        ["DEDUCT", 2],
        ["ADD", 2],
        ["DEDUCT", 3],
      ]);
      expect(await rig.starter.correction({ invoice: name })).toMatchObject({ stage: "corrected" });
      const kept = await rig.ledger.documents.findSale(BUSINESS, name);
      expect(kept?.record.correction).toMatchObject({ correctedBy: `${name}-NEW`, stage: "corrected" });
      for (const invoice of [name, `${name}-NEW`])
        expect((await handleOf(invoice).describe()).status.name).toBe("COMPLETED");
    },
  );

  test("needs an operator only for movements whose answer was lost, and leaves stock and ledger right", async () => {
    expect(asked.filter((one) => !one.startsWith("stock-unknown"))).toEqual([]);
    expect(onHand()).toBe(before - 3 * kills.length);
    expect(await findingsIn(rig.ledger)).toEqual([]);
  });
});
