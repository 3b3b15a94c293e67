import { afterAll, beforeAll, expect, it } from "vitest";

import { openLedger } from "./index.ts";
import { createTestLedger, type TestLedger } from "./test-support/create-test-ledger.ts";

let made: TestLedger;
beforeAll(async () => {
  made = await createTestLedger();
});
afterAll(() => made?.drop());

it("refuses tables that a newer version has made, and says so", async () => {
  await made.outside.query("update ledger_version set version = 9");
  for (const more of [{}, { ownerUrl: made.ownerUrl }]) {
    const ledger = openLedger({ url: made.url, home: "/nowhere", ...more });
    await expect(ledger.ready()).rejects.toMatchObject({
      name: "LedgerError",
      message: expect.stringMatching(/made by a newer version of fiscalflow \(9; .*\): upgrade/),
    });
    await ledger.close();
  }
});
