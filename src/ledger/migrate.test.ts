import { afterAll, beforeAll, expect, it } from "vitest";

import { openLedger } from "./index.ts";
import { createTestLedger, type TestLedger } from "./test-support/create-test-ledger.ts";

let made: TestLedger;
beforeAll(async () => {
  made = await createTestLedger();
});
afterAll(() => made?.drop());

it.each([
  [
    "of a newer version",
    "LedgerError",
    "update ledger_version set version = 9",
    /made by a newer version of fiscalflow \(9; .*\): upgrade/,
  ],
  [
    "of an earlier state",
    "LedgerUnavailableError",
    "update ledger_version set version = 1, baseline = 'another'",
    /from before 1\.0.* Give it an empty database: drop this one/,
  ],
  [
    "of an earlier state without a version",
    "LedgerUnavailableError",
    "drop table ledger_version",
    /from before 1\.0.* Give it an empty database: drop this one/,
  ],
])("refuses tables %s, and says what to do", async (_which, name, statement, message) => {
  await made.outside.query(statement);
  for (const more of [{}, { ownerUrl: made.ownerUrl }]) {
    const ledger = openLedger({ url: made.url, home: "/nowhere", ...more });
    await expect(ledger.ready()).rejects.toMatchObject({
      name,
      message: expect.stringMatching(message),
    });
    await ledger.close();
  }
});
