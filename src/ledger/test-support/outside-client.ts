import pg from "pg";

/**
 * Statements on a ledger's database that do not come from the ledger, over one connection, which the first of them
 * makes.
 */
export interface OutsideClient {
  query<Row extends pg.QueryResultRow = Record<string, unknown>>(
    statement: string,
    values?: unknown[],
  ): Promise<pg.QueryResult<Row>>;
  /**
   * As somebody would who owns the database: no trigger and no foreign key is in the way. @throws where no row was
   * changed
   */
  tamper(statement: string, values?: unknown[]): Promise<void>;
  end(): Promise<void>;
}

export function openOutsideClient(url: string): OutsideClient {
  let connecting: Promise<pg.Client> | undefined;
  const connected = (): Promise<pg.Client> =>
    (connecting ??= (async () => {
      const client = new pg.Client({ connectionString: url });
      // A server that ends the connection would end our process otherwise.
      client.on("error", () => undefined);
      await client.connect();
      return client;
    })());
  return {
    query: async (statement, values) => (await connected()).query(statement, values),
    async tamper(statement, values) {
      const client = await connected();
      await client.query("set session_replication_role = replica");
      try {
        const { rowCount } = await client.query(statement, values);
        if (!rowCount) throw new Error(`No row was changed by: ${statement}`);
      } finally {
        await client.query("set session_replication_role = origin");
      }
    },
    end: async () => (await connecting)?.end(),
  };
}

/** Statements on a database for as long as `work` takes. */
export async function withOutsideClient<Result>(
  url: string,
  work: (outside: OutsideClient) => Promise<Result>,
): Promise<Result> {
  const outside = openOutsideClient(url);
  try {
    return await work(outside);
  } finally {
    await outside.end();
  }
}
