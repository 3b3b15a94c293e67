import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import type { WantedCorrection } from "./corrections.ts";

const BUSINESS = { connection: "default", businessId: "biz_1" };

let made: TestLedger;
beforeAll(async () => {
  made = await createTestLedger();
  await made.ledger.ready();
});
afterAll(() => made.drop());

/** The correction of a sale that no other test has. */
function correction(more: Partial<WantedCorrection> = {}) {
  const id = randomUUID();
  const wanted = { invoice: `${id}-1`, correctedBy: `${id}-2`, creditNote: `${id}-C`, fingerprint: id, ...more };
  const { corrections } = made.ledger;
  const writer = (runId: string) => ({ workflowId: `correct/default/biz_1/${wanted.invoice}`, runId });
  return {
    wanted,
    begin: (runId: string, other: Partial<WantedCorrection> = {}) =>
      corrections.begin(BUSINESS, { ...wanted, ...other }, writer(runId)),
    end: (runId: string, state: "corrected" | "credited" | "cancelled") =>
      corrections.end(BUSINESS, wanted.invoice, state, writer(runId)),
    find: (number = wanted.invoice) => corrections.find(BUSINESS, number),
    events: async () => {
      const { rows } = await made.outside.query(
        `select kind from events where subject = 'correction of ${wanted.invoice}' order by number`,
      );
      return rows.map(({ kind }) => kind as string);
    },
  };
}

describe("a correction in the ledger", () => {
  test("is the only one of its sale: of many that start at once one does", async () => {
    const { begin, find } = correction();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => begin(`run ${n}`, { correctedBy: `NEW-${n}`, fingerprint: `${n}` })),
    );
    expect(answers.filter((taken) => taken === undefined)).toHaveLength(1);
    const [kept] = await find();
    for (const taken of answers) expect(taken ?? kept).toEqual(kept);
  });

  test("that is begun again by its run is kept once, and by another run is taken over", async () => {
    const { begin, find, events } = correction();
    await begin("run 1");
    await begin("run 1");
    expect(await events()).toEqual(["correction-begun"]);
    expect(await begin("run 2")).toBeUndefined();
    expect(await find()).toMatchObject([{ state: "begun", writer: { runId: "run 2" } }]);
  });

  test("is refused for a corrected sale that corrects another sale already", async () => {
    const first = correction();
    await first.begin("run 1");
    const second = correction({ correctedBy: first.wanted.correctedBy });
    expect(await second.begin("run 1")).toMatchObject({ invoice: first.wanted.invoice });
    await first.end("run 1", "credited");
    expect(await second.begin("run 1")).toBeUndefined();
  });

  test("that was cancelled leaves its sale free, and is not begun anew by an attempt that comes late", async () => {
    const { begin, end, find } = correction();
    await begin("run 1");
    await end("run 1", "cancelled");
    await begin("run 1");
    expect(await find()).toEqual([]);
    expect(await begin("run 2", { correctedBy: "another", fingerprint: "other" })).toBeUndefined();
    await end("run 1", "corrected");
    expect(await find()).toMatchObject([{ state: "begun", correctedBy: "another" }]);
  });

  test("that has ended is final: another one is refused, and both numbers find it", async () => {
    const { wanted, begin, end, find } = correction();
    await begin("run 1");
    await end("run 1", "corrected");
    await end("run 1", "cancelled");
    expect(await begin("run 2", { fingerprint: "other" })).toMatchObject({ state: "corrected" });
    expect(await begin("run 2")).toBeUndefined();
    expect(await find(wanted.correctedBy)).toMatchObject([{ invoice: wanted.invoice, state: "corrected" }]);
  });
});
