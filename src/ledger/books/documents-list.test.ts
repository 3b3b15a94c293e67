import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { LedgerUnavailableError } from "../errors.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { keepRecord, recordOf, someBusiness, WRITER } from "../test-support/records.ts";
import type { BusinessDocuments } from "./report-types.ts";

const DAYS = { from: "2026-11-01", to: "2026-11-30" };

let test: TestLedger;
let business: ReturnType<typeof someBusiness>;
beforeEach(async () => {
  test = await createTestLedger();
  await test.ledger.ready();
  business = someBusiness();
  await save("INV-1");
});
afterEach(() => test?.drop());

const save = (number: string) => keepRecord(test.ledger, business, recordOf(number), WRITER);

async function numbersOf(businesses: BusinessDocuments[]): Promise<string[]> {
  const numbers: string[] = [];
  for (const { pages } of businesses) {
    for await (const page of pages()) numbers.push(...page.map(({ number }) => number));
  }
  return numbers;
}

describe("the documents of a period", () => {
  it("are read from the same snapshot as their figures, whatever is saved meanwhile", async () => {
    const read = await test.ledger.reports.documents({ days: DAYS }, async (businesses) => {
      await save("INV-2");
      return { numbers: await numbersOf(businesses), count: businesses[0]?.net.count };
    });
    expect(read).toEqual({ numbers: ["INV-1"], count: 1 });
    expect(await test.ledger.reports.documents({ days: DAYS }, numbersOf)).toEqual(["INV-1", "INV-2"]);
  });

  it("are reported as incomplete where the connection breaks while they are read", async () => {
    let times = 0;
    const restore = { run: async (): Promise<void> => undefined };
    const reading = test.ledger.reports.documents({ days: DAYS }, async (businesses) => {
      times += 1;
      restore.run = await test.cut();
      return await numbersOf(businesses);
    });
    await expect(reading).rejects.toThrow(LedgerUnavailableError);
    await expect(reading).rejects.toThrow("the list is not complete");
    await restore.run();
    expect(times).toBe(1);
  });

  it("are complete where the connection breaks after the last of them", async () => {
    const read = await test.ledger.reports.documents({ days: DAYS }, async (businesses) => {
      const numbers = await numbersOf(businesses);
      await (
        await test.cut()
      )();
      return numbers;
    });
    expect(read).toEqual(["INV-1"]);
  });

  it("end with the reader's own error, without a second read", async () => {
    let times = 0;
    const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });
    const reading = test.ledger.reports.documents({ days: DAYS }, async () => {
      times += 1;
      throw full;
    });
    await expect(reading).rejects.toBe(full);
    expect(times).toBe(1);
  });
});
