import pg from "pg";

import { openLedger } from "../../../src/ledger/index.ts";
import { startEmbeddedPostgres } from "../../../src/servers/test-support/start-embedded-postgres.ts";

/** A sale or a credit note, as its row in the ledger has it. Amounts as PostgreSQL writes them. */
export interface KeptDocument {
  readonly businessId: string;
  readonly type: string;
  readonly number: string;
  readonly documentId: string | null;
  readonly status: string | null;
  readonly total: string | null;
}

export interface KeptMovement {
  readonly businessId: string;
  readonly referenceId: string;
  readonly state: string;
  readonly movementId: string | null;
  readonly itemId: string;
  readonly action: string;
  readonly quantity: string;
}

/** What `ledger verify` says of a business. */
export interface KeptChain {
  readonly connection: string;
  readonly businessId: string;
  readonly events: number;
  readonly findings: readonly object[];
}

export interface KeptLedger {
  readonly documents: readonly KeptDocument[];
  readonly movements: readonly KeptMovement[];
  readonly chains: readonly KeptChain[];
}

/**
 * All that was kept, read when nobody writes any more; the server is brought up again where it died with the last of
 * them.
 */
export async function readLedger({
  home,
  ledgerUrl,
}: {
  home: string;
  ledgerUrl?: string | undefined;
}): Promise<KeptLedger> {
  const server = ledgerUrl === undefined ? await startEmbeddedPostgres({ home }) : undefined;
  const url = ledgerUrl ?? server?.url ?? "";
  const ledger = openLedger({ url, home, operationTimeoutMs: 60_000 });
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    const documents = await client.query<KeptDocument>(
      `select business_id as "businessId", type, number, document_id as "documentId", status, total from documents`,
    );
    const movements = await client.query<KeptMovement>(
      `select business_id as "businessId", reference_id as "referenceId", state, outcome ->> 'movementId' as "movementId",
        item_id as "itemId", action, quantity from movements`,
    );
    const chains: KeptChain[] = [];
    for await (const { connection, businessId, events, findings } of ledger.verify())
      chains.push({ connection, businessId, events, findings });
    return { documents: documents.rows, movements: movements.rows, chains };
  } finally {
    await client.end();
    await ledger.close();
    await server?.close();
  }
}
