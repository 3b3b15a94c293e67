import { setTimeout as delay } from "node:timers/promises";

import { createEmbeddedServer } from "../../../src/servers/postgres-server.ts";
import { openLedger } from "../../../src/ledger/index.ts";
import { startPgbouncer } from "../../../src/ledger/test-support/pgbouncer.ts";

const LOOK_MS = 200;
/** Fewer than the workers would have at once. */
const CONNECTIONS = 8;

/** The ledger of a home behind PgBouncer. */
export interface PooledLedger {
  /** For the workers, by way of the pool. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Behind an address, nobody brings a server up again that was killed: it is kept running here, as somebody who runs a
 * server does.
 */
export async function startPooledLedger(home: string): Promise<PooledLedger> {
  const server = createEmbeddedServer({ home });
  const addresses = await server.ensure();
  const ledger = openLedger({ ...addresses, home });
  await ledger.ready();
  await ledger.close();
  const pool = await startPgbouncer({ ledger: addresses.url }, { connections: CONNECTIONS });
  const closing = new AbortController();
  const keep = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await delay(LOOK_MS);
      // One that stands still does not answer.
      await server.ensure().catch(() => undefined);
    }
  };
  const kept = keep();
  return {
    url: pool.urls.ledger,
    async close() {
      closing.abort();
      await kept;
      await pool.close();
      await server.close();
    },
  };
}
