import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openLedger } from "./index.ts";
import { createTestLedger, type TestLedger } from "./test-support/create-test-ledger.ts";

describe("a ledger on tables that are not of its version", () => {
  let made: TestLedger;
  beforeAll(async () => {
    made = await createTestLedger();
  });
  afterAll(() => made?.drop());

  test.each([
    ["0001-baseline", /release 0\.5.*nothing of it carries over/],
    ["9.0-more", /made by a newer version of fiscalflow \(.*9\.0-more.*\): upgrade/],
  ])("says so: %s", async (name, message) => {
    await made.outside.query("update fiscalflow_migrations set name = $1", [name]);
    for (const more of [{}, { ownerUrl: made.ownerUrl }]) {
      const ledger = openLedger({ url: made.url, home: "/nowhere", ...more });
      await expect(ledger.ready()).rejects.toMatchObject({
        name: "LedgerError",
        message: expect.stringMatching(message),
      });
      await ledger.close();
    }
  });
});
