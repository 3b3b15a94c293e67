import { type Ledger, openLedger } from "../index.ts";
import { createTestLedger, type TestLedger } from "./create-test-ledger.ts";
import { type WatchedLine, watchLine } from "./watched-line.ts";

export interface WatchedLedger {
  ledger: Ledger;
  /** Between the ledger and its database. */
  line: WatchedLine;
  /** The database without the line. */
  test: TestLedger;
  close(): Promise<void>;
}

/** A ledger with a database of its own, behind a line that knows what is asked over it. */
export async function openWatchedLedger(): Promise<WatchedLedger> {
  const test = await createTestLedger();
  const line = await watchLine(test.url);
  const ledger = openLedger({ url: line.url, home: "/nowhere" });
  await ledger.ready();
  const close = async (): Promise<void> => {
    await ledger.close();
    await line.close();
    await test.drop();
  };
  return { ledger, line, test, close };
}
