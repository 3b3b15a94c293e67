import type { Config } from "../../src/config/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import type { Simulator } from "../../src/dev/simulator/index.ts";
import { ledgerOf } from "../../src/worker/ledger-of-config.ts";

/** What either side says of the payments, by id: everything that is shown, and the status. */
type Books = Map<string, string>;

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

export function simulatorsBooks(simulator: Simulator): Books {
  return new Map(simulator.accounting.billPayments().map(({ body, status }) => [body.id, `${status} ${sorted(body)}`]));
}

/** Without what is known to be missing. */
export async function ledgersBooks(config: Config): Promise<Books> {
  const books: Books = new Map();
  await withLedger(config, async ({ billPayments }) => {
    for (let afterId = ""; ;) {
      const page = await billPayments.page({ connection: "default" }, { afterId, most: 1_000 });
      for (const { entry, syncStatus, missingSinceMs } of page) {
        if (missingSinceMs === null) books.set(entry.id, `${syncStatus} ${sorted(entry)}`);
        afterId = entry.id;
      }
      if (page.length === 0) return;
    }
  });
  return books;
}

/** The ids at which they differ. */
export function differences(one: Books, other: Books): string[] {
  const ids = new Set([...one.keys(), ...other.keys()]);
  return [...ids].filter((id) => one.get(id) !== other.get(id));
}

export async function withLedger<T>(config: Config, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = ledgerOf(config);
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}
